"""The one way text leaves lmkit: lines to standard output, or to a file that appears whole."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from lmkit.errors import UserError


class LineWriter:
    """Writes lines in UTF-8 to standard output or to a file; a context manager.

    A file is written beside its place under another name and moved there when the block ends
    well, so it is never seen half-written; when the block ends by an exception nothing remains.
    A path that ends in .gz, .bz2 or .xz is compressed. Pipes and devices are written to directly.

    Args:
        out: the file; None or ``"-"`` for standard output.
        line_buffered: pass on every line at once instead of collecting them (standard output).
        force: replace the file if it exists.

    Raises:
        UserError: the file exists and ``force`` is not given, or it cannot be written.
    """

    def __init__(
        self, out: str | Path | None, line_buffered: bool = False, *, force: bool = False
    ) -> None:
        self._path = None if out is None or str(out) == "-" else Path(out)
        self._name = "standard output" if self._path is None else str(self._path)
        self._line_buffered = line_buffered
        self._force = force
        self._temporary: Path | None = None
        self._file: IO[bytes] | None = None
        self._stream: IO[bytes] | None = None
        if self._path is not None:
            self._refuse_existing(self._path)

    def write(self, line: str) -> None:
        """Write ``line`` and a newline."""
        self.write_bytes(line.encode("utf-8", "surrogateescape") + b"\n")

    def write_lines(self, lines: Iterable[str]) -> None:
        """Write each of ``lines`` and a newline; faster than one by one."""
        if self._line_buffered:
            for line in lines:
                self.write(line)
        else:
            text = "".join(f"{line}\n" for line in lines)
            self.write_bytes(text.encode("utf-8", "surrogateescape"))

    def write_bytes(self, data: bytes | bytearray | memoryview) -> None:
        """Write ``data`` as it is."""
        assert self._stream is not None, "write inside the with block"
        try:
            self._stream.write(data)
            if self._line_buffered:
                self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from None

    def flush(self) -> None:
        """Pass on what was collected."""
        assert self._stream is not None, "flush inside the with block"
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self._failed(error) from None

    def __enter__(self) -> Self:
        """Open the output."""
        if self._path is None:
            if sys.stdout is None:
                raise UserError("standard output is closed", "Name an output file")
            sys.stdout.flush()
            self._stream = cast("IO[bytes]", sys.stdout.buffer)
            return self
        try:
            if _is_special(self._path):
                self._file = open(self._path, "wb")
            else:
                target = Path(os.path.realpath(self._path))
                self._temporary = target.with_name(f".{target.name}.tmp-{os.getpid()}")
                self._file = open(self._temporary, "wb")
        except OSError as error:
            raise self._failed(error) from None
        self._stream = _compressor(self._path.suffix, self._file)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Put the file in its place, or leave nothing behind after an exception."""
        if self._path is None:
            if kind is None:
                self.flush()
            elif not issubclass(kind, BrokenPipeError):
                with contextlib.suppress(OSError, UserError):
                    self.flush()
            return
        if kind is not None:
            self._abandon()
            return
        try:
            self._finish(self._path)
        except BrokenPipeError:
            raise
        except OSError as failure:
            self._abandon()
            raise self._failed(failure) from None
        except BaseException:
            self._abandon()
            raise

    def _finish(self, path: Path) -> None:
        assert self._stream is not None and self._file is not None
        if self._stream is not self._file:
            self._stream.close()
        self._file.flush()
        if self._temporary is None:
            self._file.close()
            return
        os.fsync(self._file.fileno())
        self._file.close()
        self._refuse_existing(path)
        os.replace(self._temporary, os.path.realpath(path))
        _sync_directory(self._temporary.parent)

    def _abandon(self) -> None:
        for stream in (self._stream, self._file):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)

    def _refuse_existing(self, path: Path) -> None:
        if path.is_dir():
            raise UserError(f"{path} is a directory", "Name a file")
        if not self._force and path.exists() and not _is_special(path):
            raise UserError(f"{path} exists", "Choose another name, or --force to replace it")

    def _failed(self, error: OSError) -> UserError:
        hint = ""
        if isinstance(error, FileNotFoundError) and self._path is not None:
            return UserError(f"{self._name}: no such directory", f"mkdir -p {self._path.parent}")
        if isinstance(error, PermissionError):
            hint = "Choose another place"
        return UserError(f"{self._name}: cannot write: {error.strerror or error}", hint)


def _is_special(path: Path) -> bool:
    """Return whether ``path`` is a pipe, a device or the like, which nothing may replace."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _compressor(suffix: str, file: IO[bytes]) -> IO[bytes]:
    if suffix == ".gz":
        # No name and no time inside: the same lines give the same bytes.
        return cast("IO[bytes]", gzip.GzipFile("", "wb", 6, file, mtime=0))
    if suffix == ".bz2":
        return cast("IO[bytes]", bz2.BZ2File(file, "wb"))
    if suffix == ".xz":
        return cast("IO[bytes]", lzma.LZMAFile(file, "wb"))
    return file


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
