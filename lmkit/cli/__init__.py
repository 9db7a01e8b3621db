"""Floor 5: the command line, a thin layer over the tasks."""
