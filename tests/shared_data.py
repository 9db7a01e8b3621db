"""Where the reference outputs and real corpora lie that tests use when they are at hand."""

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("LMKIT_SHARED", Path(__file__).resolve().parents[2] / "shared"))


def shared(*parts: str) -> Path:
    """Return the path of a shared file, or skip the test where it is absent."""
    path = ROOT.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs {'/'.join(parts)}")
    return path
