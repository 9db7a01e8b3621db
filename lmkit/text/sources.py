"""Where bytes come from: files and standard input, compressed or not, as one kind of raw stream.

:class:`ByteSource` is what ``lmkit.text.lines`` reads. It knows gzip, bzip2 and xz by their first
bytes (never by the file's name), drops a UTF-8 byte order mark, counts the bytes it has taken from
the disk, and turns everything that can go wrong into one :class:`~lmkit.errors.TextError` that
names the file. Reading returns what is there and never waits for more, so a line typed into a pipe
arrives at once.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lmkit.errors import TextError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STDIN_NAME = "<stdin>"
BOM = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")

GZIP = b"\x1f\x8b\x08"
XZ = b"\xfd7zXZ\x00"
# "BZh" and a digit could begin a text; the block or end mark behind them could not.
BZIP2 = tuple(b"BZh%d" % n + mark for n in range(1, 10) for mark in (b"1AY&SY", b"\x17rE8P\x90"))
MAGICS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("gzip", (GZIP,)),
    ("bzip2", BZIP2),
    ("xz", (XZ,)),
)


class ByteSource(io.RawIOBase):
    """The bytes of one file, or of standard input for ``"-"``, decompressed and without a BOM.

    Attributes:
        name: what to call the source in messages; the path, or ``<stdin>``.
        size: bytes on disk of an uncompressed regular file, else None.
        utf16: whether the text begins with a UTF-16 byte order mark.

    Raises:
        TextError: the file is missing, a directory, not readable, or its compression is broken.
    """

    name: str
    _open: tuple[io.IOBase, ...] = ()

    def __init__(self, source: str | Path) -> None:
        super().__init__()
        self.name = STDIN_NAME if str(source) == "-" else str(source)
        self._stored = _open_stored(source, self.name)
        self._stream: io.BufferedIOBase | io.RawIOBase = self._stored
        self._open = (self._stored,)
        self._head = b""
        self.compression: str | None = None
        try:
            magic = self._peek(tuple(mark for _, marks in MAGICS for mark in marks))
            self.compression = next((k for k, marks in MAGICS if magic.startswith(marks)), None)
            if self.compression is not None:
                self._stored.push_back(self._head)
                self._head = b""
                self._stream = _decompress(self.compression, self._stored)
                self._open = (self._stream, self._stored)
            start = self._peek((BOM, *UTF16_MARKS))
        except BaseException:
            self.close()
            raise
        self.utf16 = start.startswith(UTF16_MARKS)
        if start.startswith(BOM):
            self._head = self._head[len(BOM) :]
        self.size = None if self.compression else self._stored.size

    @property
    def consumed(self) -> int:
        """Bytes taken so far from the file as it lies on disk."""
        return self._stored.consumed

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, target: WriteableBuffer, /) -> int:
        """Fill ``target`` with what can be had without waiting for more; return 0 at the end."""
        view = memoryview(target).cast("B")
        if self._head:
            taken = min(len(view), len(self._head))
            view[:taken] = self._head[:taken]
            self._head = self._head[taken:]
            return taken
        return self._read(view)

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self.closed:
            for stream in self._open:
                stream.close()
        super().close()

    def _peek(self, marks: Sequence[bytes]) -> bytes:
        """Read the first bytes, no more than it takes to tell whether they are one of ``marks``."""
        while any(len(self._head) < len(m) and m.startswith(self._head) for m in marks):
            one = bytearray(16)
            count = self._read(memoryview(one))
            if count == 0:
                break
            self._head += one[:count]
        return self._head

    def _read(self, view: memoryview) -> int:
        try:
            return _readinto_once(self._stream, view) or 0
        except EOFError:
            raise TextError(
                f"{self.name}: the {self.compression} data is cut short", "Fetch the file again"
            ) from None
        except (OSError, zlib.error, lzma.LZMAError) as error:
            # A failing disk has an error number; gzip and bz2 raise OSError without one.
            if isinstance(error, OSError) and (error.errno or not self.compression):
                raise TextError(f"{self.name}: {error.strerror or error}") from None
            raise TextError(
                f"{self.name}: the {self.compression} data is corrupt ({error})",
                "Fetch the file again",
            ) from None


class _Stored(io.RawIOBase):
    """The bytes as they are stored, counted; bytes may be pushed back once they were looked at."""

    def __init__(self, readinto: Callable[[memoryview], int | None], close: Callable[[], None]):
        super().__init__()
        self.consumed = 0
        self.size: int | None = None
        self._readinto = readinto
        self._close = close
        self._pushed = b""

    def readable(self) -> bool:
        return True

    def push_back(self, data: bytes) -> None:
        self._pushed = data + self._pushed

    def readinto(self, target: WriteableBuffer, /) -> int:
        view = memoryview(target).cast("B")
        if self._pushed:
            taken = min(len(view), len(self._pushed))
            view[:taken] = self._pushed[:taken]
            self._pushed = self._pushed[taken:]
            return taken
        count = self._readinto(view)
        if count is None:
            raise OSError("the stream is set not to wait for data (O_NONBLOCK)")
        self.consumed += count
        return count

    def close(self) -> None:
        if not self.closed:
            self._close()
        super().close()


def _open_stored(source: str | Path, name: str) -> _Stored:
    if str(source) == "-":
        if sys.stdin is None:
            raise TextError("standard input is closed", "Name a file")
        stdin = sys.stdin.buffer
        return _Stored(lambda view: _readinto_once(stdin, view), lambda: None)
    try:
        file = open(source, "rb", buffering=0)  # noqa: SIM115 - closed by _Stored.close
    except OSError as error:
        raise open_error(error, name) from None
    stored = _Stored(file.readinto, file.close)
    info = os.fstat(file.fileno())
    if stat.S_ISREG(info.st_mode) and info.st_size > 0:
        stored.size = info.st_size
    return stored


def open_error(error: OSError, name: str) -> TextError:
    """Return what to tell the user when ``name`` could not be opened for reading."""
    if isinstance(error, FileNotFoundError):
        return TextError(f"{name}: no such file", "Check the path, or use - for standard input")
    if isinstance(error, IsADirectoryError):
        return TextError(f"{name}: a directory, not a text file", "Name the files in it")
    if isinstance(error, PermissionError):
        return TextError(f"{name}: no permission to read it", "Check its owner and mode (ls -l)")
    return TextError(f"{name}: {error.strerror or error}")


def _readinto_once(
    stream: IO[bytes] | io.BufferedIOBase | io.RawIOBase, view: memoryview
) -> int | None:
    """Read what one system call gives, whatever methods ``stream`` has."""
    once = getattr(stream, "readinto1", None) or getattr(stream, "readinto", None)
    if once is not None:
        count: int | None = once(view)
        return count
    data: bytes = stream.read(len(view)) or b""
    view[: len(data)] = data
    return len(data)


def _decompress(kind: str, stored: _Stored) -> io.BufferedIOBase:
    buffered = io.BufferedReader(stored, 1 << 18)
    if kind == "gzip":
        return gzip.GzipFile(fileobj=buffered, mode="rb")
    if kind == "bzip2":
        return bz2.BZ2File(buffered, "rb")
    return lzma.LZMAFile(buffered, "rb")
