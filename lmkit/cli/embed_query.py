"""lmkit embed neighbors, similarity, odd-one-out: questions about single words and sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import typer

from lmkit.cli.command import command
from lmkit.cli.options import (
    Config,
    Errors,
    Json,
    LineBuffered,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Strict,
    Top,
    Verbose,
)
from lmkit.cli.word_queries import (
    Limit,
    Query,
    Run,
    Words,
    answer_arguments,
    answer_lines,
    answers_line,
    answers_record,
    answers_rows,
    prepare_for_one_question,
    with_problem,
)

if TYPE_CHECKING:
    from lmkit.embed.vectors import Vectors
    from lmkit.tasks.analogy import Answered
    from lmkit.tasks.query_embed import Compared, OddOne


def neighbors_command(
    words: Words = None,
    model: Model = None,
    top: Top = 10,
    limit: Limit = None,
    strict: Strict = False,
    json: Json = False,
    errors: Errors = "strict",
    line_buffered: LineBuffered = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Find the words that are used most like a word: those nearest by cosine.

    Neighbours of an argument come one a row: word, TAB, cosine; of several arguments with the
    argument before. An argument or line with spaces that is not one word of the model asks for
    what is near the mean of its words. MODEL may also be a file of word2vec, GloVe or fastText.

    Without arguments each line of standard input is asked about and gets one line: word, TAB,
    cosine, TAB, word and so on. With --json an object each: text, answers (word, score), unknown.
    A blank line and an unknown word get an empty line, with --json no answers.
    """
    if words:
        prepare_for_one_question()
    from lmkit.tasks.analogy import AnalogyConfig, answer
    from lmkit.tasks.query_embed import neighbor_questions

    settings = AnalogyConfig(top=top, limit=limit)
    run = Run(
        model=model,
        json=json,
        strict=strict,
        errors=errors,
        line_buffered=line_buffered,
        quiet=quiet,
        progress=progress,
    )

    def ask(vectors: Vectors, lines: Iterable[str]) -> Iterator[Answered]:
        return answer(vectors, neighbor_questions(vectors, lines), settings)

    def rows(result: Answered) -> str:
        return answers_rows(result, *([result.text] if len(words or ()) > 1 else ()))

    if words:
        answer_arguments(Query(ask=ask, show=rows, record=answers_record), words, run)
    else:
        answer_lines(Query(ask=ask, show=answers_line, record=answers_record), run)


def similarity_command(
    words: Words = None,
    model: Model = None,
    strict: Strict = False,
    json: Json = False,
    errors: Errors = "strict",
    line_buffered: LineBuffered = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Tell how alike two words are: the cosine of their vectors.

    Either side may be several words ('king queen' 'man woman'): then their mean is compared.
    MODEL may also be a file of word2vec, GloVe or fastText.

    Without arguments each line of standard input is a pair, parted by a space or, where sides
    have several words, by a TAB; further columns are left alone. It gets one line: cosine, TAB,
    the line. With --json an object each: text, similarity, unknown; problem if it is no pair.

    Without an answer (a blank line, an unknown word, no pair) the cosine is nan, in JSON null.
    """
    if words:
        prepare_for_one_question()
    from lmkit.tasks.query_embed import similarities

    run = Run(
        model=model,
        json=json,
        strict=strict,
        errors=errors,
        line_buffered=line_buffered,
        quiet=quiet,
        progress=progress,
    )
    if words:
        query = Query(ask=similarities, show=_cosine, record=_comparison)
        answer_arguments(query, [_joined(words)], run)
    else:
        query = Query(ask=similarities, show=_cosine_and_line, record=_comparison)
        answer_lines(query, run)


def odd_one_out_command(
    words: Words = None,
    model: Model = None,
    strict: Strict = False,
    json: Json = False,
    errors: Errors = "strict",
    line_buffered: LineBuffered = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Find the word that fits least among others: that with the least cosine to their mean.

    The answer is one line, the word, TAB, its cosine. Without arguments each line of standard
    input has three words or more, parted by spaces or TABs, and gets one such line. With --json
    an object each: text, word, words (all, with word and score, the odd one first), unknown;
    problem if there are too few words. MODEL may also be a file of word2vec, GloVe or fastText.

    A blank line, an unknown word and too few words get an empty line, with --json null.
    """
    if words:
        prepare_for_one_question()
    from lmkit.tasks.query_embed import odd_ones

    run = Run(
        model=model,
        json=json,
        strict=strict,
        errors=errors,
        line_buffered=line_buffered,
        quiet=quiet,
        progress=progress,
    )
    query = Query(ask=odd_ones, show=_odd_line, record=_odd_record)
    if words:
        answer_arguments(query, [_joined(words)], run)
    else:
        answer_lines(query, run)


def _joined(words: list[str]) -> str:
    """Return arguments as a line would have them."""
    return ("\t" if any(" " in word for word in words) else " ").join(words)


def _cosine(result: Compared) -> str:
    return "nan" if result.similarity is None else f"{result.similarity:.6f}"


def _cosine_and_line(result: Compared) -> str:
    return f"{_cosine(result)}\t{result.text}"


def _comparison(result: Compared) -> dict[str, Any]:
    return with_problem({"text": result.text, "similarity": result.similarity}, result)


def _odd_line(result: OddOne) -> str:
    return "".join(f"{word}\t{score:.6f}" for word, score in result.words[:1])


def _odd_record(result: OddOne) -> dict[str, Any]:
    record: dict[str, Any] = {
        "text": result.text,
        "word": result.words[0][0] if result.words else None,
        "words": [{"word": word, "score": score} for word, score in result.words],
    }
    return with_problem(record, result)


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``, the group ``lmkit embed``."""
    neighbors = ["lmkit embed neighbors river", "lmkit embed neighbors --top 3 --json < words.txt"]
    command(app, "neighbors", examples=neighbors)(neighbors_command)
    similarity = [
        "lmkit embed similarity king queen",
        "cut -f 1,2 pairs.tsv | lmkit embed similarity | sort -g",
    ]
    command(app, "similarity", examples=similarity)(similarity_command)
    odd = [
        "lmkit embed odd-one-out breakfast cereal dinner lunch",
        "echo 'king queen river prince' | lmkit embed odd-one-out",
    ]
    command(app, "odd-one-out", examples=odd)(odd_one_out_command)
