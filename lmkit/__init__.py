"""lmkit: every language model from 1913 on, one command line, one yardstick."""

__version__ = "0.1.0"
