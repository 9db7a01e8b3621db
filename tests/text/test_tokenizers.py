"""Tokenizers: nothing is lost, blocks equal lines, and what is stored comes back the same."""

import itertools
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from lmkit.errors import ModelError, UserError
from lmkit.events import Listener
from lmkit.language_model import EOS, SPECIALS, Tokenizer
from lmkit.text import sentencepiece_tokenizer
from lmkit.text.lines import Block, block_lines, block_of, read_blocks
from lmkit.text.sentencepiece_training import sample_lines
from lmkit.text.tokenizers import (
    ByteTokenizer,
    CharTokenizer,
    Encoded,
    Normalizer,
    SentencePieceConfig,
    SentencePieceTokenizer,
    fit_sentencepiece,
)

LINES = st.text(st.characters(exclude_characters="\0\n", exclude_categories=["Cs"]), max_size=40)
TEXTS = st.lists(
    st.one_of(st.sampled_from(["\n", "\r\n", "\r", " ", "ÀÉÎ", "ﬁ", "İ", "ΑΣ"]), LINES), max_size=12
).map("".join)
NORMALIZERS = st.builds(Normalizer, st.booleans(), st.sampled_from(["none", "nfc", "nfkc"]))
MODES = st.sampled_from(["sentence", "document"])

# A text of words put together from stems and endings, in which pieces longer than a letter pay.
STEMS = ["work", "call", "learn", "play", "start", "walk", "open", "wait", "paint", "travel"]
ENDINGS = ["", "s", "ed", "ing", "er", "ers"]
WORDS = [stem + ending for stem in STEMS for ending in ENDINGS]
STORY = [
    " ".join(WORDS[(7 * i + i * i * k) % len(WORDS)] for k in range(3 + i % 9)) for i in range(800)
]


def check_block(tokenizer: Tokenizer, block: Block, encoded: Encoded, mode: str) -> None:
    """Check that a block encodes to what its lines encode to, one by one."""
    assert encoded.ids.dtype == np.uint32
    assert encoded.line_sizes.dtype == np.int64
    lines = block_lines(block)
    assert len(encoded.line_sizes) == len(lines)
    assert encoded.line_sizes.sum() == len(encoded.ids)
    ends = np.cumsum(encoded.line_sizes)
    for line, start, end in zip(lines, ends - encoded.line_sizes, ends, strict=True):
        expected = tokenizer.encode(line).tolist()
        if mode == "sentence":
            expected.append(EOS)
        elif tokenizer.unit != "sentencepiece":
            expected.append(tokenizer.encode("\n")[0])
        assert encoded.ids[start:end].tolist() == expected


class TestNormalizer:
    @given(st.text(), NORMALIZERS)
    def test_twice_is_once(self, text: str, normalizer: Normalizer) -> None:
        once = normalizer(text)
        assert normalizer(once) == once

    @pytest.mark.parametrize("normalizer", [Normalizer(True, "nfc"), Normalizer(True, "nfkc")])
    def test_every_character_keeps_to_one_line(self, normalizer: Normalizer) -> None:
        for codepoint in itertools.chain(range(0xD800), range(0xE000, 0x110000)):
            result = normalizer(chr(codepoint))
            assert normalizer(result) == result
            assert ("\n" in result, "\r" in result, "\0" in result) == (
                codepoint == 10,
                codepoint == 13,
                codepoint == 0,
            )

    @given(TEXTS, NORMALIZERS)
    def test_blocks_as_lines(self, text: str, normalizer: Normalizer) -> None:
        block = block_of(text)
        normalized = normalizer.block(block)
        assert block_lines(normalized) == [normalizer(line) for line in block_lines(block)]
        assert (normalized.source, normalized.line) == (block.source, block.line)

    def test_what_the_forms_do(self) -> None:
        text = "ﬁ Éa E\u0301B İ"
        assert Normalizer()(text) == text
        assert Normalizer(form="nfc")(text) == "ﬁ Éa ÉB İ"
        assert Normalizer(form="nfkc")(text) == "fi Éa ÉB İ"
        assert Normalizer(lower=True, form="nfkc")(text) == "fi éa éb i\u0307"
        assert unicodedata.is_normalized("NFKC", Normalizer(True, "nfkc")(text))

    def test_settings_come_back(self) -> None:
        for normalizer in (Normalizer(), Normalizer(True, "nfkc")):
            assert Normalizer.from_spec(normalizer.spec()) == normalizer
        with pytest.raises(UserError, match="no normalization form 'nfd'"):
            Normalizer(form="nfd")


class TestBytes:
    @given(LINES)
    def test_nothing_is_lost(self, line: str) -> None:
        tokenizer = ByteTokenizer()
        ids = tokenizer.encode(line)
        assert len(ids) == len(line.encode())
        assert tokenizer.decode(ids) == line
        assert tokenizer.decode([*ids, EOS]) == line
        assert tokenizer.decode([1, *ids, EOS, *ids, EOS]) == f"{line}\n{line}"

    @given(TEXTS, MODES, NORMALIZERS)
    def test_blocks_as_lines(self, text: str, mode: str, normalizer: Normalizer) -> None:
        tokenizer = ByteTokenizer(normalizer)
        block = block_of(text)
        encoded = tokenizer.encode_block(block, mode)
        check_block(tokenizer, block, encoded, mode)
        if mode == "document":
            expected = normalizer(block.text()).replace("\r\n", "\n")
            assert tokenizer.decode(encoded.ids) == expected

    def test_any_ids_decode(self) -> None:
        assert ByteTokenizer().decode(range(259)).startswith("\ufffd\n")
        assert ByteTokenizer().decode([]) == ByteTokenizer().decode([2]) == ""
        for bad in ([259], [-1]):
            with pytest.raises(ValueError, match=r"0\.\.258"):
                ByteTokenizer().decode(bad)


class TestCharacters:
    @given(TEXTS, MODES)
    def test_nothing_known_is_lost(self, text: str, mode: str) -> None:
        block = block_of(text)
        tokenizer = CharTokenizer.fit([block], mode)
        for line in block_lines(block):
            ids = tokenizer.encode(line)
            assert len(ids) == len(line)
            assert 0 not in ids
            assert tokenizer.decode(ids) == line

    @given(TEXTS, TEXTS, MODES, NORMALIZERS)
    def test_blocks_as_lines(self, seen: str, text: str, mode: str, normalizer: Normalizer) -> None:
        tokenizer = CharTokenizer.fit([block_of(seen)], mode, normalizer=normalizer)
        block = block_of(text)
        check_block(tokenizer, block, tokenizer.encode_block(block, mode), mode)

    @given(TEXTS, NORMALIZERS)
    def test_the_newline_belongs_to_documents(self, text: str, normalizer: Normalizer) -> None:
        blocks = [block_of(text), block_of("a\n")]
        without = CharTokenizer.fit(blocks, "sentence", normalizer=normalizer)
        with_it = CharTokenizer.fit(blocks, "document", normalizer=normalizer)
        assert "<U+000A>" not in map(without.token, range(without.num_tokens))
        assert set(with_it.codepoints) == {*without.codepoints, 10}

    def test_order_and_limits(self) -> None:
        blocks = [block_of("bbb aa"), block_of("c aa\r\n€b")]
        tokenizer = CharTokenizer.fit(blocks, "sentence")
        assert [tokenizer.token(i) for i in range(tokenizer.num_tokens)] == [
            *SPECIALS, "a", "b", "<U+0020>", "c", "€",
        ]  # fmt: skip
        assert CharTokenizer.fit(blocks, "sentence", min_count=2).num_tokens == 6
        assert CharTokenizer.fit(blocks, "sentence", max_size=1).num_tokens == 4
        assert tokenizer.encode("az€").tolist() == [3, 0, 7]
        assert tokenizer.decode([3, 0, 7, 2]) == "a\ufffd€"

    def test_damaged_characters_are_refused(self) -> None:
        for codepoints in ([1 << 24], [65, 65]):
            with pytest.raises(ModelError, match="damaged"):
                CharTokenizer(np.array(codepoints, dtype=np.uint32))
        with pytest.raises(ModelError, match="missing"):
            CharTokenizer.restore({"unit": "char"}, {})


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("story") / "story.txt"
    path.write_text("\n".join(STORY), encoding="utf-8")
    return path


@pytest.fixture(scope="module", params=["unigram", "bpe"])
def pieces(request: pytest.FixtureRequest, story: Path) -> SentencePieceTokenizer:
    return fit_sentencepiece([story], SentencePieceConfig(kind=request.param, vocab_size=40))


class TestSentencePiece:
    def test_it_learns_pieces(self, pieces: SentencePieceTokenizer) -> None:
        assert pieces.num_tokens == 40
        tokens = [pieces.token(i) for i in range(pieces.num_tokens)]
        assert tuple(tokens[:3]) == SPECIALS
        assert len(set(tokens)) == 40
        assert any(len(token) > 2 for token in tokens[3:])
        assert len(pieces.encode(STORY[8])) < len(STORY[8])

    @given(st.lists(st.sampled_from([*WORDS, " ", "  ", "wal", ""])).map(" ".join))
    def test_nothing_known_is_lost(self, pieces: SentencePieceTokenizer, line: str) -> None:
        ids = pieces.encode(line)
        assert 0 not in ids
        assert pieces.decode(ids) == line
        assert pieces.decode([1, *ids, 2, *ids, 2]) == f"{line}\n{line}"

    @given(TEXTS, MODES)
    def test_blocks_as_lines(self, pieces: SentencePieceTokenizer, text: str, mode: str) -> None:
        block = block_of(text)
        encoded = pieces.encode_block(block, mode)
        check_block(pieces, block, encoded, mode)
        twice = pieces.encode_block(block, mode, threads=2)
        assert np.array_equal(twice.ids, encoded.ids)

    def test_markers_are_text(self, pieces: SentencePieceTokenizer) -> None:
        ids = pieces.encode("<s> </s> works <unk>")
        assert not np.isin([1, 2], ids).any()
        assert pieces.decode(pieces.encode("<unk>")).count("\ufffd") >= 1

    def test_fitting_repeats(self, story: Path, pieces: SentencePieceTokenizer) -> None:
        kind = (
            "bpe" if any(pieces._processor.get_score(i) == -5.0 for i in range(40)) else "unigram"
        )
        config = SentencePieceConfig(kind=kind, vocab_size=40, max_lines=500)
        first, second = (fit_sentencepiece([story], config) for _ in range(2))
        assert first.model == second.model
        assert first.fingerprint() == second.fingerprint() != pieces.fingerprint()

    def test_bytes_make_every_text_known(self, story: Path) -> None:
        config = SentencePieceConfig(vocab_size=300, kind="bpe", byte_fallback=True)
        tokenizer = fit_sentencepiece([story], config)
        for line in ("für 😀 <s>", "  zwei  ", "\t\x0b", "日本"):
            assert 0 not in tokenizer.encode(line)
            assert tokenizer.decode(tokenizer.encode(line)) == line

    def test_tokens_are_single_words(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("a\tb\u3000c\t\u3000 d\n" * 9, encoding="utf-8")
        config = SentencePieceConfig(kind="bpe", vocab_size=10, character_coverage=1.0)
        tokenizer = fit_sentencepiece([tmp_path / "text"], config)
        tokens = [tokenizer.token(i) for i in range(tokenizer.num_tokens)]
        assert {"<U+0009>", "<U+3000>", "\u2581"} < set(tokens)
        assert all(len(token.split()) == 1 for token in tokens)

    def test_case_is_folded_when_asked(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("\n".join(STORY).upper())
        config = SentencePieceConfig(vocab_size=40, normalizer=Normalizer(lower=True))
        tokenizer = fit_sentencepiece([tmp_path / "text"], config)
        assert tokenizer.decode(tokenizer.encode("Open WORKS")) == "open works"

    def test_sizes_that_do_not_fit(self, story: Path) -> None:
        with pytest.raises(UserError, match=r"100000 pieces is too large.*Use \d+ or less") as high:
            fit_sentencepiece([story], SentencePieceConfig(vocab_size=100_000))
        limit = int(str(high.value).split("Use ")[1].split()[0])
        assert fit_sentencepiece([story], SentencePieceConfig(vocab_size=limit)).num_tokens == limit
        with pytest.raises(UserError, match=r"9 pieces is too small.*Use \d+ or more") as low:
            fit_sentencepiece([story], SentencePieceConfig(vocab_size=9, kind="bpe"))
        limit = int(str(low.value).split("Use ")[1].split()[0])
        config = SentencePieceConfig(vocab_size=limit, kind="bpe")
        assert fit_sentencepiece([story], config).num_tokens == limit
        with pytest.raises(UserError, match="coverage"):
            SentencePieceConfig(character_coverage=2)

    @pytest.mark.parametrize("text", ["", "\n \n\t\n"])
    def test_no_text(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "text").write_text(text)
        with pytest.raises(UserError, match="no text"):
            fit_sentencepiece([tmp_path / "text"])

    def test_lines_that_the_library_skips_are_used(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("q" * 9000 + "\nthe \u2585 zebra\n" + "w v " * 9000)
        config = SentencePieceConfig(vocab_size=16, kind="bpe", character_coverage=1.0)
        tokenizer = fit_sentencepiece([tmp_path / "text"], config)
        assert 0 not in tokenizer.encode("the zebra w v qqq")

    def test_very_long_lines_are_cut_where_it_does_not_show(
        self, pieces: SentencePieceTokenizer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        long = [" ".join(STORY[:50]), "x" * 500, "", "  ".join(STORY[:9]) + "  "]
        block = block_of("\n".join(long))
        whole = pieces.encode_block(block, "sentence")
        monkeypatch.setattr(sentencepiece_tokenizer, "_LONGEST", 60)
        assert len(pieces._cut(long[0])) > 20
        cut = pieces.encode_block(block, "sentence")
        assert np.array_equal(cut.ids, whole.ids)
        assert np.array_equal(cut.line_sizes, whole.line_sizes)

    def test_the_library_keeps_quiet(self, story: Path) -> None:
        code = (
            "import sys\n"
            "from lmkit.errors import UserError\n"
            "from lmkit.text.tokenizers import SentencePieceConfig, fit_sentencepiece\n"
            "assert 'sentencepiece' not in sys.modules\n"
            "for kind in ('unigram', 'bpe'):\n"
            "    fit_sentencepiece([sys.argv[1]], SentencePieceConfig(vocab_size=40, kind=kind))\n"
            "    for size in (5, 100000):\n"
            "        try:\n"
            "            config = SentencePieceConfig(vocab_size=size, kind=kind)\n"
            "            fit_sentencepiece([sys.argv[1]], config)\n"
            "            raise SystemExit('fitted')\n"
            "        except UserError:\n"
            "            pass\n"
        )
        result = subprocess.run(
            [sys.executable, "-c", code, str(story)], capture_output=True, timeout=60
        )
        assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")

    def test_files_that_are_no_models(self, tmp_path: Path) -> None:
        path = tmp_path / "x.model"
        with pytest.raises(ModelError, match=r"x.model: No such file"):
            SentencePieceTokenizer.from_file(path)
        for data in (b"", b"hello", bytes(range(256)), b"\0" * 99):
            path.write_bytes(data)
            with pytest.raises(ModelError, match=r"x.model: .*sentencepiece model"):
                SentencePieceTokenizer.from_file(path)

    def test_models_with_other_numbers_for_the_specials(self, story: Path, tmp_path: Path) -> None:
        import sentencepiece

        sentencepiece.SentencePieceTrainer.train(
            input=str(story), model_prefix=str(tmp_path / "x"), vocab_size=44, minloglevel=3,
            pad_id=0, eos_id=1, unk_id=2, bos_id=-1, control_symbols=["<mask>"],
            user_defined_symbols=["<sep>"],
        )  # fmt: skip
        tokenizer = SentencePieceTokenizer.from_file(tmp_path / "x.model")
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "x.model"))
        # <pad>, </s>, <unk> and <mask> have no ids of their own among ours.
        assert tokenizer.num_tokens == 44 - 4 + 3
        for line in STORY[:20]:
            tokens = [tokenizer.token(i) for i in tokenizer.encode(line)]
            assert tokens == theirs.encode(line, out_type=str)
        assert "<sep>" in [tokenizer.token(i) for i in tokenizer.encode("open<sep>works")]
        assert 0 in tokenizer.encode("Ж works")
        assert tokenizer.decode(tokenizer.encode("open works")) == "open works"


class TestSample:
    def test_all_lines_in_order_when_they_are_few(self) -> None:
        assert sample_lines("abc", 3, 1) == (["a", "b", "c"], 3)
        assert sample_lines("abc", 9, 1) == (["a", "b", "c"], 3)
        assert sample_lines("", 9, 1) == ([], 0)

    def test_each_line_is_equally_likely(self) -> None:
        lines = [str(i) for i in range(20)]
        counts = dict.fromkeys(lines, 0)
        for seed in range(4000):
            sample, total = sample_lines(lines, 5, seed)
            assert (len(set(sample)), total) == (5, 20)
            for line in sample:
                counts[line] += 1
        # Chi-square with 19 degrees of freedom; the variance is that of draws without replacement.
        statistic = sum((count - 1000) ** 2 / 750 for count in counts.values()) * 19 / 20
        assert statistic < 43.8  # p = 0.001

    def test_it_is_said(self, story: Path) -> None:
        notes: list[str] = []

        class Hears(Listener):
            def note(self, message: str) -> None:
                notes.append(message)

        config = SentencePieceConfig(vocab_size=40, max_lines=100)
        fit_sentencepiece([story], config, listener=Hears())
        assert notes == ["tokenizer: trained on a random 100 of 800 lines"]


def test_what_is_stored_comes_back(story: Path, tmp_path: Path) -> None:
    normalizer = Normalizer(True, "nfc")
    block = block_of("Open works, für 5 €\nwalk.\n")
    char = CharTokenizer.fit(read_blocks([story]), "document", normalizer=normalizer)
    byte = ByteTokenizer(normalizer)
    config = SentencePieceConfig(vocab_size=40, normalizer=normalizer)
    pieces = fit_sentencepiece([story], config)
    for name, data in pieces.files().items():
        (tmp_path / name).write_bytes(data)
    restored = (
        (byte, ByteTokenizer.restore(byte.spec(), byte.arrays())),
        (char, CharTokenizer.restore(char.spec(), char.arrays())),
        (pieces, SentencePieceTokenizer.restore(pieces.spec(), tmp_path)),
    )
    fingerprints = set()
    for before, after in restored:
        assert before.spec() == after.spec()
        assert before.fingerprint() == after.fingerprint()
        assert before.num_tokens == after.num_tokens
        encoded, again = (
            before.encode_block(block, "document"),
            after.encode_block(block, "document"),
        )
        assert np.array_equal(encoded.ids, again.ids)
        fingerprints.add(before.fingerprint())
    fingerprints |= {ByteTokenizer().fingerprint(), CharTokenizer(char.codepoints).fingerprint()}
    fingerprints.add(CharTokenizer(char.codepoints[::-1].copy(), normalizer).fingerprint())
    assert len(fingerprints) == 6


@pytest.mark.parametrize("name", ["nfd_accents", "emoji_list", "spaces_and_tabs", "controls"])
@pytest.mark.parametrize("mode", ["sentence", "document"])
def test_messy_text_survives(name: str, mode: str) -> None:
    blocks = list(read_blocks([shared("data", "messy", f"{name}.txt")], block_size=3000))
    for tokenizer in (ByteTokenizer(), CharTokenizer.fit(blocks, mode)):
        for block in blocks:
            text = tokenizer.decode(tokenizer.encode_block(block, mode).ids)
            assert text.removesuffix("\n").split("\n") == block_lines(block)
