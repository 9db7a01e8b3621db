"""Standard input as a file, for work that reads its text twice."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


@contextmanager
def spooled(sources: Sequence[str], *, needed: bool = True) -> Iterator[list[str]]:
    """Yield ``sources`` with standard input (``-``) copied to a temporary file."""
    if not needed or "-" not in sources:
        yield list(sources)
        return
    with tempfile.NamedTemporaryFile(prefix="lmkit-stdin-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield [copy.name if source == "-" else source for source in sources]
