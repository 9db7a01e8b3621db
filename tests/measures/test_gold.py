"""What kind of file it is, and where a line does not fit."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lmkit.errors import TextError
from lmkit.events import Listener
from lmkit.measures.gold import Categories, Questions, Section, Similarities, read_gold, read_pairs

Make = Callable[[str | bytes], Path]


@pytest.fixture
def made(tmp_path: Path) -> Make:
    def make(text: str | bytes) -> Path:
        path = tmp_path / "gold"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


class Heard(Listener):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, message: str) -> None:
        self.notes.append(message)


def test_questions(made: Make) -> None:
    gold = read_gold(made(": one two\r\na b c d\r\n\r\n# no\n:gram1\nnew york\tf\tg\th\n: empty\n"))
    assert isinstance(gold, Questions)
    assert gold.sections == [
        Section("one two", [("a", "b", "c", "d")]),
        Section("gram1", [("new york", "f", "g", "h")]),
        Section("empty", []),
    ]


def test_questions_without_a_section(made: Make) -> None:
    gold = read_gold(made("a b c d\n: more\ne f g h"))
    assert isinstance(gold, Questions)
    assert [section.name for section in gold.sections] == ["questions", "more"]


@pytest.mark.parametrize(
    "text",
    [
        "new york\tcity\t5\nold\tnew\t-1.5\n",
        "# comment\nWord 1\tWord 2\tHuman (mean)\nnew york\tcity\t5.0\r\n\r\nold\tnew\t-1.5",
    ],
)
def test_similarity_with_tabs(made: Make, text: str) -> None:
    gold = read_gold(made(text))
    assert isinstance(gold, Similarities)
    assert gold.pairs == [("new york", "city"), ("old", "new")]
    assert gold.scores.tolist() == [5.0, -1.5]


def test_similarity_with_spaces(made: Make) -> None:
    gold = read_gold(made("sun  sunlight 50.000\nold new 1e1\n"))
    assert isinstance(gold, Similarities)
    assert gold.pairs == [("sun", "sunlight"), ("old", "new")]
    assert gold.scores.tolist() == [50.0, 10.0]


@pytest.mark.parametrize(
    "text",
    [
        "category\tword\nfruit\tapple\nfruit\tpear\ntree\toak\n",
        "word class\napple fruit\npear fruit\noak tree\n",
        "apple fruit\npear fruit\noak tree\n",
        "fruit\tapple\nfruit\tpear\ntree\toak\n",
    ],
)
def test_categories_in_either_order(made: Make, text: str) -> None:
    gold = read_gold(made(text))
    assert isinstance(gold, Categories)
    assert gold.words == ["apple", "pear", "oak"]
    assert gold.classes == ["fruit", "fruit", "tree"]


def test_a_class_without_a_word_is_left_out(made: Make) -> None:
    heard = Heard()
    path = made("category\tword\nfruit\tapple\nfruit\t\ntree\toak\n")
    gold = read_gold(path, listener=heard)
    assert isinstance(gold, Categories)
    assert gold.words == ["apple", "oak"]
    assert heard.notes == [f"{path}: 1 of 3 lines lack a word or a class and are left out"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": nothing to measure by in it. Give four words"),
        ("\n# only this\n\t\n", ": nothing to measure by in it. Give four words"),
        ("\nthe king sees the queen\n", ":2: 5 columns: not a file to measure vectors by. Give"),
        ("word\n", ":1: 1 column: not a file to measure vectors by"),
        (": s\na b c d\na b c\n", ":3: 3 columns instead of four words. Mend the line"),
        (": s\na b\t\tc\n", ":2: an empty column instead of four words"),
        ("a b 1\n\na b 1 2\n", ":3: 4 columns instead of two words and a number"),
        ("a b 1\na b x\n", ":2: 'x' is not a number. The third column"),
        ("a b 1\na b nan\n", ":2: 'nan' is not a number"),
        ("a b x\na b y\n", ":1: 'x' is not a number"),
        ("a\tb\t1\n\tb\t1\n", ":2: an empty column instead of two words and a number"),
        ("6157 32\nthe 0.1 0.2 0.3\n", ":2: 4 columns instead of a word and its class"),
    ],
)
def test_what_does_not_fit_is_named(made: Make, text: str, message: str) -> None:
    path = made(text)
    with pytest.raises(TextError) as caught:
        read_gold(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_bad_bytes(made: Make) -> None:
    path = made(b"a b 1\na \xff 2\n")
    with pytest.raises(TextError, match="gold:2:3: not UTF-8"):
        read_gold(path)
    gold = read_gold(path, errors="replace")
    assert isinstance(gold, Similarities)
    assert gold.pairs[1] == ("a", "\ufffd")


def test_pairs(made: Make) -> None:
    path = made("# A B\nking roi\r\nnew york\tNew York\n")
    assert read_pairs(path) == [("king", "roi"), ("new york", "New York")]
    with pytest.raises(TextError, match="gold:2: 3 columns instead of two words"):
        read_pairs(made("a b\na b c\n"))
    with pytest.raises(TextError, match="gold: no pairs in it"):
        read_pairs(made("\n"))
