"""Numbers of the layout of a model on disk; see ``save.py`` and ``query/kernels.py``."""

NONE = 0xFFFFFFFF
"""The state of the empty context; no record has this number."""
WIDE = 8
"""Contexts with more children than this find them through a hash table."""
