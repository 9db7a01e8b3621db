"""How a run ends: every ending becomes an exit code, and at most one line on stderr.

0    done; also when the reader of standard output went away (lmkit sample | head)
1    ran, and the answer is negative
2    usage
3    the user can mend it: bad text, a missing or damaged model, a full disk
70   a bug of lmkit, with its traceback
130  Ctrl-C
143  SIGTERM, after temporary files are gone
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, ModuleType
from typing import Any

import typer
from typer.core import TyperGroup

from lmkit import __version__
from lmkit.cli import panels
from lmkit.errors import NegativeResult, UserError

EXIT_CODES = (
    "Exit codes: 0 done, 1 the answer is negative, 2 usage, 3 bad text or model, "
    "70 a bug, 130 Ctrl-C, 143 SIGTERM"
)
_SAME_SIGNAL = 0.5
"""Seconds within which two signals count as one."""
TRACEBACK = "lmkit.traceback"
"""Key of ``typer.Context.meta``: whether errors show their traceback."""

_OUR_BUGS = (errno.EBADF, errno.EINVAL, errno.EFAULT)


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; like Ctrl-C it passes through ``with`` blocks, which tidy up."""


class Shell(TyperGroup):
    """The group of all commands, which turns endings into exit codes.

    Help is printed while the context is made and commands run while it is invoked, so both are
    watched. An ending outside (a wrong option of lmkit itself) is typer's own: exit code 2.
    """

    def get_params(self, ctx: Any) -> Any:
        """Return the options of lmkit itself, which no variable sets."""
        params = super().get_params(ctx)
        for param in params:
            param.show_envvar = param.allow_from_autoenv = False  # type: ignore[attr-defined]
        return params

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands, panel by panel."""
        names = super().list_commands(ctx)
        panel = {name: getattr(self.commands[name], "rich_help_panel", None) for name in names}
        return sorted(names, key=lambda name: panels.place(panel[name], panels.COMMANDS))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the options of lmkit itself; may print help."""
        with endings({}):
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with endings(ctx.meta):
            return super().invoke(ctx)


@contextmanager
def endings(meta: dict[str, Any]) -> Iterator[None]:
    """Turn what leaves the block into ``typer.Exit`` with the right code.

    Args:
        meta: may hold :data:`TRACEBACK`; read when the block ends.
    """
    try:
        with _flushed_stdout():
            yield
    except BrokenPipeError:
        _forget_stdout()
        raise typer.Exit(0) from None
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # the way of rich, which prints the help
            raise typer.Exit(0) from None
        raise
    except NegativeResult as negative:
        if str(negative):
            _complain(str(negative))
        raise typer.Exit(1) from None
    except Terminated:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # all is tidied up
        raise typer.Exit(128 + signal.SIGTERM) from None
    except (KeyboardInterrupt, typer.Exit, typer.Abort, typer.TyperException):
        raise
    except Exception as error:
        line = user_message(error)
        if line is None:
            _show_traceback()
            _complain(f"this is a bug in lmkit {__version__} (Python {sys.version.split()[0]})")
            raise typer.Exit(70) from None
        if meta.get(TRACEBACK) or os.environ.get("LMKIT_TRACEBACK", "0") not in ("", "0"):
            _show_traceback()
        _complain(line)
        raise typer.Exit(3) from None


def user_message(error: Exception) -> str | None:
    """Return the line to show for an error the user can mend, or None for a bug of ours."""
    if isinstance(error, UserError):
        return f"error: {error}"
    if isinstance(error, MemoryError):
        return "error: not enough memory. Use less text or a smaller model."
    if isinstance(error, OSError) and error.errno and error.errno not in _OUR_BUGS:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "output"
        return f"error: {name}: {error.strerror}."
    return None


def main(app: typer.Typer) -> None:
    """Run ``app`` as the program lmkit; SIGTERM interrupts it as Ctrl-C does."""
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    _leave_markdown_out()
    _leave_plugins_out()
    app(prog_name="lmkit")


def _leave_markdown_out() -> None:
    """Spare the help a parser of Markdown, a fifth of its time.

    typer's help imports one for a way of writing help texts that lmkit does not use.
    """
    if "rich.markdown" not in sys.modules:
        stub = ModuleType("rich.markdown")
        stub.Markdown = None  # type: ignore[attr-defined]
        sys.modules["rich.markdown"] = stub


def _leave_plugins_out() -> None:
    """Spare commands the search for plug-ins of pydantic, a tenth of the time they take to start.

    pydantic, which typer checks parameters with, asks the standard library what is installed. The
    modules for that, a mail reader among them, are now loaded when somebody else asks.
    """
    name = "importlib.metadata"
    if name in sys.modules:
        return
    import importlib

    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    stub = ModuleType(name)
    importlib.metadata = stub  # some look for it there

    def load(attribute: str) -> Any:
        if attribute.startswith("__"):  # what the import system itself asks for
            raise AttributeError(attribute)
        if sys.modules.get(name) is stub:
            del sys.modules[name]
        return getattr(importlib.import_module(name), attribute)

    def entry_points(**selected: Any) -> Any:
        return load("entry_points")(**selected)

    stub.entry_points = entry_points  # type: ignore[attr-defined]
    stub.__getattr__ = load  # type: ignore[method-assign]
    sys.modules[name] = stub


def _terminate(number: int, frame: FrameType | None) -> None:
    """Tidy up and end; a second signal ends at once, unless it comes with the first.

    ``timeout`` signals the process and then its group, so the one it starts is told twice.
    """
    told = time.monotonic()

    def again(number: int, frame: FrameType | None) -> None:
        if time.monotonic() - told > _SAME_SIGNAL:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, again)
    raise Terminated


@contextmanager
def _flushed_stdout() -> Iterator[None]:
    """Flush stdout when the block ends well, so that a failure to do so is seen here.

    After another ending, what cannot be written is dropped and not tried again.
    """
    try:
        yield
    except typer.Exit:
        _flush_stdout()
        raise
    except BaseException:
        with suppress(UserError, BrokenPipeError, ValueError):
            _flush_stdout()
        raise
    _flush_stdout()


def _flush_stdout() -> None:
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        raise
    except OSError as error:
        _forget_stdout()
        raise UserError(f"cannot write to standard output: {error.strerror}") from error


def _forget_stdout() -> None:
    """Send what is still buffered nowhere, so that Python's own flush at exit succeeds."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.close(devnull)


def _complain(line: str) -> None:
    print(f"lmkit: {line}", file=sys.stderr)


def _show_traceback() -> None:
    import traceback

    traceback.print_exc()
