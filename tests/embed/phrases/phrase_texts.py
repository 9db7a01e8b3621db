"""Texts, tables and lines for the tests of phrases."""

from hypothesis import strategies as st

from lmkit.embed.phrases.config import PhrasesConfig
from lmkit.embed.phrases.table import PhrasePass, PhraseTable
from lmkit.text.lines import Block, block_of

WORDS = st.sampled_from(["a", "b", "new", "york", "new_york", "état", "数", "x" * 70, "#", "-"])
SPACES = st.sampled_from([" ", " ", "  ", "\t", " \t ", "\r"])
LINES = st.lists(st.tuples(SPACES, WORDS), max_size=12).map(
    lambda parts: "".join(space + word for space, word in parts)
)
TEXTS = st.lists(LINES, max_size=8)
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=10, unique=True)


def table_of(*passes: list[tuple[str, str]], delimiter: str = "_") -> PhraseTable:
    config = PhrasesConfig(thresholds=(1.0,) * len(passes), delimiter=delimiter)
    return PhraseTable(config, [one_pass(pairs) for pairs in passes])


def one_pass(pairs: list[tuple[str, str]]) -> PhrasePass:
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    return PhrasePass(left, right, [2.5] * len(pairs), [7] * len(pairs))


def text_of(block: Block) -> bytes:
    return block.data[: block.size].tobytes()


def blocks_of(*lines: str) -> list[Block]:
    return [block_of("".join(f"{line}\n" for line in lines))]
