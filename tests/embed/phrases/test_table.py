"""The file that phrases are kept in."""

from pathlib import Path

import pytest
from embed.phrases.phrase_texts import PAIRS, one_pass, table_of
from hypothesis import HealthCheck, given, settings

from lmkit.embed.phrases.config import PhrasesConfig
from lmkit.embed.phrases.table import PhraseTable
from lmkit.errors import ModelError, TextError
from lmkit.text.writer import LineWriter


def written(table: PhraseTable, path: Path) -> PhraseTable:
    with LineWriter(path, force=True) as writer:
        table.write(writer)
    return PhraseTable.read(str(path))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PAIRS, PAIRS)
def test_what_is_written_is_read(
    tmp_path: Path, first: list[tuple[str, str]], second: list[tuple[str, str]]
) -> None:
    table = table_of(first, second, delimiter="=é=")
    again = written(table, tmp_path / "table.tsv.gz")
    assert again.config == table.config
    for ours, theirs in zip(table.passes, again.passes, strict=True):
        for name in ("left", "right", "scores", "counts"):
            assert list(getattr(theirs, name)) == list(getattr(ours, name))


def test_layout(tmp_path: Path) -> None:
    config = PhrasesConfig(score="npmi", thresholds=(0.5, 0.25), min_count=3)
    table = PhraseTable(config, [one_pass([("new", "york")]), one_pass([("new_york", "city")])])
    written(table, tmp_path / "table.tsv")
    assert (tmp_path / "table.tsv").read_bytes() == (
        b"# lmkit phrases 1\tdelimiter=_\tscore=npmi\tmin_count=3\tthresholds=0.5,0.25\n"
        b"1\tnew\tyork\t2.5\t7\n2\tnew_york\tcity\t2.5\t7\n"
    )


HEAD = "# lmkit phrases 1\tdelimiter=_\tscore=word2vec\tmin_count=5\tthresholds=100.0\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": not a phrase table. Make one with"),
        ("the king\n", ": not a phrase table"),
        (HEAD.replace("delimiter=_\t", ""), ":1: the first line of the phrase table misses"),
        (HEAD.replace("=5", "=five"), ":1: the first line of the phrase table invalid literal"),
        (HEAD.replace("word2vec", "chi"), ":1: the first line of the phrase table no score 'chi'"),
        (HEAD.replace("=_", "= "), ":1: the first line of the phrase table --delimiter ' '"),
        (HEAD + "1\tnew\tyork\t2.5\n", ":2: not a line of a phrase table"),
        (HEAD + "1\tnew\tyork\t2.5\t7\n2\tnew\tyork\t2.5\t7\n", ":3: not a line of a phrase table"),
        (HEAD + "1\tnew\t\t2.5\t7\n", ":2: not a line of a phrase table"),
        (HEAD + "1\tnew york\tcity\t2.5\t7\n", ":2: not a line of a phrase table"),
        (HEAD + "1\tnew\tyork\thigh\t7\n", ":2: not a line of a phrase table"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.tsv"
    path.write_text(text)
    with pytest.raises(ModelError) as caught:
        PhraseTable.read(str(path))
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_missing_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="no such file"):
        PhraseTable.read(str(tmp_path / "none.tsv"))
