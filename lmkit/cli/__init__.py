"""Floor 5: the command line, a thin layer over the tasks."""

import gc

gc.set_threshold(20_000)  # starting makes many objects that stay; looking through them takes time
