"""Joining known phrases: from left to right, within lines, the same by both ways."""

import pytest
from embed.phrases.phrase_texts import PAIRS, TEXTS, table_of, text_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lmkit.embed.phrases.joining import Joiner
from lmkit.text.lines import block_of


@pytest.mark.parametrize(
    ("line", "joined"),
    [
        ("new york", "new_york"),
        ("in new york city hall", "in new_york city_hall"),
        ("york city", "york_city"),
        ("a\tnew  york\u2028", "a\tnew  york\u2028"),
        (" new \t york  a ", " new_york  a "),
        ("new new york", "new new_york"),
        ("york new", "york new"),
        ("new", "new"),
        ("", ""),
        ("  ", "  "),
        ("new \r york", "new_york"),
    ],
)
def test_line(line: str, joined: str) -> None:
    table = table_of([("new", "york"), ("york", "city"), ("city", "hall")])
    assert Joiner(table).line(line) == joined


def test_a_word_is_in_one_phrase_of_a_pass_and_the_next_pass_makes_longer_ones() -> None:
    first = [("new", "york"), ("york", "city")]
    assert Joiner(table_of(first)).line("new york city") == "new_york city"
    assert Joiner(table_of(first, [("new_york", "city")])).line("new york city") == "new_york_city"


def test_pairs_do_not_reach_across_lines() -> None:
    joiner = Joiner(table_of([("new", "york")]))
    block = block_of("a new\nyork new york\r\n\nnew\n\nyork")
    assert text_of(joiner.block(block)) == b"a new\nyork new_york\n\nnew\n\nyork\n"
    assert text_of(joiner.block_by_kernels(block)) == text_of(joiner.block(block))


def test_one_carriage_return_belongs_to_the_line_end() -> None:
    joiner = Joiner(table_of([("a", "b")], [("c", "d")]))
    block = block_of("a b\r\r\nc d\r\n")
    assert text_of(joiner.block_by_kernels(block)) == b"a_b\r\nc_d\n"


@settings(deadline=None)
@given(TEXTS, PAIRS, PAIRS, st.sampled_from(["_", "::", "é"]))
def test_kernels_do_what_python_does(
    lines: list[str], first: list[tuple[str, str]], second: list[tuple[str, str]], delimiter: str
) -> None:
    joiner = Joiner(table_of(first, second, delimiter=delimiter))
    block = block_of("".join(f"{line}\n" for line in lines))
    twin = "".join(f"{joiner.line(line.removesuffix(chr(13)))}\n" for line in lines)
    assert text_of(joiner.block_by_kernels(block)).decode() == twin


@given(TEXTS, PAIRS)
def test_nothing_but_the_space_in_phrases_changes(
    lines: list[str], pairs: list[tuple[str, str]]
) -> None:
    joiner = Joiner(table_of(pairs, delimiter="+"))
    for line in lines:
        assert joiner.line(line).replace("+", " ").split() == line.split()
        if not pairs:
            assert joiner.line(line) == line


def test_many_phrases() -> None:
    pairs = [(f"a{i}", f"b{i}") for i in range(2000)]
    joiner = Joiner(table_of(pairs))
    block = block_of("\n".join(f"{a} {b} {a} {b[:-1]}x" for a, b in pairs))
    joined = text_of(joiner.block_by_kernels(block)).decode().split("\n")
    assert joined[:-1] == [f"{a}_{b} {a} {b[:-1]}x" for a, b in pairs]
