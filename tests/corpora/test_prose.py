"""The prose: clean lines, one sentence each, in splits that share nothing."""

from collections import Counter

import pytest

from lmkit.corpora import catalogue

SPLITS = ("prose.train", "prose.valid", "prose.test")


def read(name: str) -> list[str]:
    data = catalogue.path(name).read_bytes()
    assert data.endswith(b"\n")
    assert not data.startswith(b"\xef\xbb\xbf")
    return data.decode("utf-8", "strict")[:-1].split("\n")


@pytest.mark.parametrize("name", ("prose", *SPLITS))
def test_lines_are_clean(name: str) -> None:
    for line in read(name):
        assert line == line.strip(), line
        assert line, "blank line"
        assert "  " not in line, line
        assert line.isprintable(), line
        assert line.endswith((".", "?", "!", '."', '?"', '!"')), line
        assert line[0].isupper() or line[0] == '"', line
        assert line.count('"') % 2 == 0, line


def test_no_sentence_comes_twice() -> None:
    assert Counter(read("prose")).most_common(1)[0][1] == 1


def test_the_splits_are_the_whole_and_share_no_line() -> None:
    lines = [line for name in SPLITS for line in read(name)]
    assert len(lines) == len(set(lines))
    assert sorted(lines) == sorted(read("prose"))


def test_sizes() -> None:
    sizes = {name: len("\n".join(read(name))) for name in SPLITS}
    total = sum(sizes.values())
    assert total > 70_000
    assert 0.88 < sizes["prose.train"] / total < 0.92
    assert 0.04 < sizes["prose.valid"] / total < 0.06
    assert 0.04 < sizes["prose.test"] / total < 0.06


def test_held_out_text_is_of_the_same_kind() -> None:
    """Most of its words are known from the training part, as in any one author's text."""
    words = Counter(word for line in read("prose.train") for word in line.lower().split())
    for name in SPLITS[1:]:
        held_out = [word for line in read(name) for word in line.lower().split()]
        known = sum(word in words for word in held_out) / len(held_out)
        assert 0.65 < known < 0.95
