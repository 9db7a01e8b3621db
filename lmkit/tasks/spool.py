"""Standard input as a file, for work that reads its text twice."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from lmkit.errors import TextError
from lmkit.text.sources import STDIN_NAME


@contextmanager
def spooled(sources: Sequence[str], *, needed: bool = True) -> Iterator[list[str]]:
    """Yield ``sources`` with standard input (``-``) copied to a temporary file.

    Raises:
        TextError: one raised in the block that names the copy names standard input instead.
    """
    if not needed or "-" not in sources:
        yield list(sources)
        return
    with tempfile.NamedTemporaryFile(prefix="lmkit-stdin-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        try:
            yield [copy.name if source == "-" else source for source in sources]
        except TextError as error:
            raise TextError(error.what.replace(copy.name, STDIN_NAME), error.hint) from None
