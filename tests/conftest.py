"""Golden files: compared by every run, rewritten by ``pytest --update-golden``.

Property tests draw new examples at every run; where CI is set, the same ones every time. They
have no deadline, since machines are busy.
"""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("lmkit", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("lmkit")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite what is compared")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Return a function that compares a file with the text it should have, or writes that."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.write_text(text, "utf-8", newline="\n")
        assert path.read_text("utf-8") == text, "pytest --update-golden rewrites this file"

    return compare
