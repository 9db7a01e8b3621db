"""Both readers see the same lines, whatever the bytes and wherever they come from."""

import bz2
import gzip
import hashlib
import lzma
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import shared

from lmkit.errors import TextError
from lmkit.events import Listener
from lmkit.text.lines import (
    PADDING,
    Block,
    block_lines,
    block_of,
    read_blocks,
    read_lines,
    total_size,
)
from lmkit.text.sources import open_error

BOM = b"\xef\xbb\xbf"
# Everything that some tool somewhere takes for a line end.
BREAKS = ["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
CHARACTERS = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
TEXTS = st.lists(
    st.one_of(st.sampled_from(BREAKS), st.text(CHARACTERS, max_size=8)), max_size=30
).map("".join)
RAW = (
    st.lists(
        st.one_of(
            st.binary(max_size=6),
            st.sampled_from(
                [b"\n", b"\r\n", b"\0", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f", b"abc "]
            ),
            st.text(max_size=4).map(lambda text: text.encode("utf-8", "ignore")),
        ),
        max_size=20,
    )
    .map(b"".join)
    .filter(lambda data: not data.startswith((b"\x1f\x8b", b"\xfd7z", b"BZh")))
)
MESSY = [
    "bom_utf8.txt", "controls.txt", "cr_only.txt", "crlf.txt", "emoji_list.txt",
    "emoji_sentences.txt", "empty.txt", "invalid_utf8.txt", "mixed_line_ends.txt",
    "nfd_accents.txt", "no_final_newline.txt", "nul_bytes.txt", "one_long_line.txt.gz",
    "one_long_word.txt", "only_newlines.txt", "only_spaces.txt", "spaces_and_tabs.txt",
    "special_tokens.txt", "utf16le_bom.txt", "udhr/ar.txt", "udhr/hi.txt", "udhr/ja.txt",
    "udhr/th.txt", "legacy_encodings/fr.latin1.txt", "legacy_encodings/ja.shift_jis.txt",
    "legacy_encodings/ru.legacy_cyrillic.txt", "legacy_encodings/tr.latin5.txt",
    "legacy_encodings/zh.gb2312.txt",
]  # fmt: skip
COMPRESSORS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if name not in ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
}


def in_file(data: bytes) -> str:
    """Write ``data`` to a file that the next call overwrites."""
    path = os.path.join(tempfile.gettempdir(), f"lmkit-test-lines-{os.getpid()}.txt")
    with open(path, "wb") as file:
        file.write(data)
    return path


@pytest.fixture(autouse=True, scope="module")
def _remove_file():
    yield
    Path(in_file(b"")).unlink()


def joined(blocks: list[Block]) -> bytes:
    return b"".join(block.data[: block.size].tobytes() for block in blocks)


def all_lines(path: str | Path, **options: object) -> list[str]:
    return [line for block in read_blocks([path], **options) for line in block_lines(block)]


def run_python(
    code: str, stdin: bytes = b"", *arguments: str
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=60)


class TestLines:
    @given(TEXTS, st.booleans(), st.integers(1, 40))
    def test_only_newline_ends_a_line(self, text: str, bom: bool, block_size: int) -> None:
        data = text.lstrip("\ufeff").encode()
        path = in_file(BOM * bom + data)
        unterminated = bool(data) and not data.endswith(b"\n")
        expected = [
            line.removesuffix("\r")
            for line in data.decode().split("\n")[: data.count(b"\n") + unterminated]
        ]
        assert list(read_lines([path])) == expected
        blocks = list(read_blocks([path], block_size=block_size))
        assert joined(blocks) == data + b"\n" * unterminated
        assert [line for block in blocks for line in block_lines(block)] == expected

    @given(RAW, st.integers(1, 40))
    def test_faulty_bytes_are_refused_or_replaced_by_both_readers(
        self, data: bytes, block_size: int
    ) -> None:
        path = in_file(data)
        text = data.removeprefix(BOM).decode("utf-8", "replace").replace("\0", "\ufffd")
        expected = [line.removesuffix("\r") for line in text.split("\n")]
        if text.endswith("\n") or not text:
            expected.pop()
        assert list(read_lines([path], errors="replace")) == expected
        assert all_lines(path, errors="replace", block_size=block_size) == expected
        failures = []
        for read in (lambda: list(read_lines([path])), lambda: all_lines(path, block_size=9)):
            try:
                assert read() == expected
                failures.append("")
            except TextError as error:
                failures.append(str(error))
        assert failures[0] == failures[1]
        clean = "\0" not in data.decode("utf-8", "replace")
        try:
            data.decode()
        except UnicodeDecodeError:
            clean = False
        assert (failures[0] == "") == clean

    @given(TEXTS, st.integers(1, 40))
    def test_blocks_know_their_place_and_are_padded(self, text: str, block_size: int) -> None:
        line = 1
        for block in read_blocks([in_file(text.encode())], block_size=block_size):
            assert block.line == line
            assert block.size > 0
            assert block.data[block.size - 1] == 10
            assert len(block.data) >= block.size + PADDING
            assert not block.data[block.size :].any()
            line += block.data[: block.size].tobytes().count(b"\n")

    def test_sources_do_not_glue(self, tmp_path: Path) -> None:
        one, two, empty = tmp_path / "one", tmp_path / "two", tmp_path / "empty"
        one.write_bytes(b"a\nb")
        two.write_bytes(BOM + b"c")
        empty.write_bytes(b"")
        assert list(read_lines([one, empty, two])) == ["a", "b", "c"]
        assert [(b.source, b.line) for b in read_blocks([one, empty, two])] == [
            (str(one), 1),
            (str(two), 1),
        ]

    def test_place_of_a_fault(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.txt"
        path.write_bytes(
            "gut\nzwei\nfür \xff".encode().replace("\xff".encode(), b"\xff") + b"\nx\n"
        )
        for block_size in (1, 9, 1 << 20):
            with pytest.raises(TextError) as caught:
                all_lines(path, block_size=block_size)
            assert str(caught.value) == (
                f"{path}:3:5: not UTF-8 (byte 0xff). Try --errors replace."
            )
        path.write_bytes(b"one\ntwo\0three\xff")
        with pytest.raises(TextError, match=r"bad.txt:2:4: a NUL byte"):
            all_lines(path)

    def test_a_fault_beyond_the_first_piece_is_found(self, tmp_path: Path) -> None:
        path = tmp_path / "bad.txt"
        good = "é€😀x" * 40_000
        path.write_bytes(good.encode())
        assert all_lines(path) == [good]
        # Four continuation bytes where a piece may be cut, and one at the very end.
        for data in (good.encode() + b"\x80", good.encode()[:65_530] + b"\x80" * 9, b"a\xe2\x82"):
            path.write_bytes(data)
            with pytest.raises(TextError, match=r":1:\d+: not UTF-8"):
                all_lines(path)

    def test_utf16_names_the_cure(self, tmp_path: Path) -> None:
        path = tmp_path / "wide.txt"
        path.write_bytes("one\ntwo\n".encode("utf-16"))
        for read in (all_lines, lambda p: list(read_lines([p]))):
            with pytest.raises(TextError, match=r"wide.txt:1:1: UTF-16.*iconv -f utf-16 -t utf-8"):
                read(path)
        warnings: list[str] = []

        class Hears(Listener):
            def warn(self, message: str) -> None:
                warnings.append(message)

        assert len(list(read_lines([path], errors="replace", listener=Hears()))) == 3
        assert len(warnings) == 1

    def test_digest_and_progress(self, tmp_path: Path) -> None:
        plain, packed = tmp_path / "a.txt", tmp_path / "b"
        text = b"".join(b"line %d\n" % i for i in range(5000)) + b"last"
        plain.write_bytes(BOM + text)
        packed.write_bytes(gzip.compress(text))
        for path in (plain, packed):
            seen: list[int] = []

            class Hears(Listener):
                def advance(self, amount: int) -> None:
                    seen.append(amount)  # noqa: B023

            digest = hashlib.sha256()
            list(read_blocks([path], block_size=1000, listener=Hears(), digest=digest))
            assert sum(seen) == path.stat().st_size
            assert digest.hexdigest() == hashlib.sha256(text + b"\n").hexdigest()

    def test_total_size(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"12345")
        assert total_size([tmp_path / "a", tmp_path / "a"]) == 10
        assert total_size([tmp_path / "a", "-"]) is None
        assert total_size(["/dev/null"]) is None
        with pytest.raises(TextError, match="no such file"):
            total_size([tmp_path / "b"])


class TestSources:
    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    def test_compression_is_known_by_content(self, pack, tmp_path: Path) -> None:
        path = tmp_path / "text.txt"
        path.write_bytes(pack(BOM + b"a\n") + pack("b\nü".encode()))
        assert list(read_lines([path])) == all_lines(path) == ["a", "b", "ü"]
        path.write_bytes(pack(b""))
        assert list(read_lines([path])) == all_lines(path) == []

    @pytest.mark.parametrize("kind", sorted(COMPRESSORS))
    def test_damaged_compression_is_one_clear_error(self, kind: str, tmp_path: Path) -> None:
        path = tmp_path / f"corpus.{kind}"
        packed = COMPRESSORS[kind](random.Random(1).randbytes(20_000).hex().encode())
        for cut in (len(packed) // 2, len(packed) - 3):
            path.write_bytes(packed[:cut])
            for read in (all_lines, lambda p: list(read_lines([p]))):
                with pytest.raises(TextError, match=rf"corpus.{kind}: the \w+ data is cut short"):
                    read(path)
        middle = len(packed) // 2
        path.write_bytes(packed[:middle] + b"\0" * 9 + packed[middle + 9 :])
        with pytest.raises(TextError, match=rf"corpus.{kind}: the \w+ data is (corrupt|cut)"):
            all_lines(path)

    @pytest.mark.parametrize("text", [b"BZh", b"BZh9 is a magic number\n", b"B\n", b"\x1f\n", b"x"])
    def test_text_that_begins_like_a_compressed_file(self, text: bytes, tmp_path: Path) -> None:
        path = tmp_path / "text"
        path.write_bytes(text)
        assert list(read_lines([path])) == all_lines(path) == [text.decode().removesuffix("\n")]

    def test_what_cannot_be_opened(self, tmp_path: Path) -> None:
        with pytest.raises(TextError, match="missing.txt: no such file"):
            all_lines(tmp_path / "missing.txt")
        with pytest.raises(TextError, match="a directory"):
            list(read_lines([tmp_path]))

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_no_permission(self, tmp_path: Path) -> None:
        path = tmp_path / "secret.txt"
        path.write_bytes(b"x")
        path.chmod(0)
        with pytest.raises(TextError, match="secret.txt: no permission"):
            all_lines(path)

    def test_no_permission_is_said_in_one_line(self) -> None:
        error = open_error(PermissionError(13, "Permission denied"), "secret.txt")
        assert str(error).startswith("secret.txt: no permission to read it. ")

    READERS = """
import sys
from lmkit.text.lines import block_lines, read_blocks, read_lines
sys.stdout.reconfigure(encoding="utf-8")
if sys.argv[1] == "lines":
    lines = list(read_lines(["-"]))
else:
    lines = [line for block in read_blocks(["-"], block_size=7) for line in block_lines(block)]
print(ascii(lines))
"""

    @pytest.mark.parametrize("reader", ["lines", "blocks"])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
    def test_standard_input(self, reader: str, pack) -> None:
        text = "one\x0b\x85\u2028 \r two\r\n\n ünzerlegt\nlast"
        result = run_python(self.READERS, pack(BOM + text.encode()), reader)
        expected = ["one\x0b\x85\u2028 \r two", "", " ünzerlegt", "last"]
        assert (result.stdout.decode().strip(), result.stderr) == (ascii(expected), b"")

    def test_faults_on_standard_input_name_it(self) -> None:
        result = run_python(self.READERS, b"ok\n\xff\n", "blocks")
        assert b"<stdin>:2:1: not UTF-8 (byte 0xff)" in result.stderr
        result = run_python(self.READERS, gzip.compress(b"ok\n" * 999)[:-4], "lines")
        assert b"<stdin>: the gzip data is cut short" in result.stderr

    def test_a_line_arrives_before_the_next_is_sent(self) -> None:
        code = (
            "from lmkit.text.lines import LineWriter, read_lines\n"
            "with LineWriter(None, line_buffered=True) as out:\n"
            "    for line in read_lines(['-']): out.write(line.upper())\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        with process:
            for word in (b"a", b"bz", b"\xef\xbb", b"zzz"):
                if word == b"\xef\xbb":
                    word = b"BZh"
                process.stdin.write(word + b"\n")
                process.stdin.flush()
                assert process.stdout.readline() == word.upper() + b"\n"
            process.stdin.close()
        assert process.returncode == 0

    def test_a_pipe_with_a_name(self, tmp_path: Path) -> None:
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with subprocess.Popen(["sh", "-c", f"printf 'a\\nb' > {pipe}"]):
            assert all_lines(pipe) == ["a", "b"]


class TestSize:
    def test_a_line_of_100_mb(self, tmp_path: Path) -> None:
        path = tmp_path / "long.txt"
        path.write_bytes(b"x" * 100_000_000)
        code = """
import resource, sys
from lmkit.text.lines import read_blocks, read_lines
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if sys.argv[2] == "blocks":
    (size,) = [block.size for block in read_blocks([sys.argv[1]])]
else:
    (size,) = [len(line) + 1 for line in read_lines([sys.argv[1]])]
print(size, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""
        for reader in ("blocks", "lines"):
            result = run_python(code, b"", str(path), reader)
            size, memory = map(float, result.stdout.split())
            assert size == 100_000_001
            assert memory < 3.5 * size


class TestMessy:
    @pytest.mark.parametrize("name", MESSY)
    def test_lines_or_a_place(self, name: str) -> None:
        path = shared("data", "messy", name)
        outcomes: list[object] = []
        for read in (
            lambda: list(read_lines([path])),
            lambda: all_lines(path),
            lambda: all_lines(path, block_size=100),
        ):
            try:
                outcomes.append(read())
            except TextError as error:
                assert str(error).startswith(f"{path}:")
                place = str(error).removeprefix(f"{path}:").split(":")
                assert int(place[0]) >= 1 and int(place[1]) >= 1
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1] == outcomes[2]
        broken = name.startswith("legacy") or name in (
            "invalid_utf8.txt",
            "nul_bytes.txt",
            "utf16le_bom.txt",
        )
        assert isinstance(outcomes[0], str) == broken

    @pytest.mark.parametrize("name", MESSY)
    def test_replacing_never_fails_and_keeps_every_line(self, name: str) -> None:
        path = shared("data", "messy", name)
        lines = list(read_lines([path], errors="replace"))
        assert lines == all_lines(path, errors="replace", block_size=500)
        opener = gzip.open if name.endswith(".gz") else open
        with opener(path, "rb") as file:
            data = file.read()
        assert len(lines) == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


@given(TEXTS)
def test_block_of_text(text: str) -> None:
    block = block_of(text)
    assert block.text() == text + "\n" * (bool(text) and not text.endswith("\n"))
    assert len(block.data) >= block.size + PADDING
