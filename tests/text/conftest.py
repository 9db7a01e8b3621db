"""Property tests draw the same examples everywhere and have no deadline on a busy machine."""

from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable")
