"""Floor 4: one file a verb; plain functions that return results and print nothing."""
