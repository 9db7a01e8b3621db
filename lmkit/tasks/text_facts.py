"""What the card of a model says about the text that it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lmkit.text.corpus import Corpus
from lmkit.text.sources import STDIN_NAME


def text_facts(sources: Sequence[str], corpus: Corpus) -> dict[str, Any]:
    """Return the names of the files, and the size and SHA-256 of what was read from them."""
    names = (STDIN_NAME if source == "-" else Path(source).name for source in sources)
    return {
        "name": ", ".join(names),
        "lines": len(corpus.line_sizes),
        "tokens": corpus.num_tokens,
        "bytes": corpus.num_bytes,
        "sha256": corpus.sha256,
    }
