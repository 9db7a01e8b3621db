"""lmkit ngram fit broken off: a full disk, signals, SIGKILL at any moment; never half a model."""

import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ngram.fitting import Ended, assert_one_line, files_of, large_text, lmkit, names, opened
from programs import LMKIT, environment, run

TEXT = "the king sees the queen\nthe queen sees the king\nthe king sleeps\n"
Fit = Callable[..., Ended]


@pytest.fixture
def fit(tmp_path: Path) -> Fit:
    """Return a function that runs ``lmkit ngram fit`` on files a, b."""
    (tmp_path / "a").write_text(TEXT)
    (tmp_path / "b").write_text("a queen sleeps")
    return lambda *arguments, code=0: lmkit("ngram", "fit", *arguments, code=code, cwd=tmp_path)


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))


def test_a_write_that_fails_leaves_the_old_model(fit: Fit, tmp_path: Path) -> None:
    fit("a", "-q", "--order", "1", "-o", "./model")
    before = files_of(tmp_path / "model")
    done = subprocess.run(
        [*LMKIT, "ngram", "fit", "a", "-o", "./model", "--force"],
        capture_output=True,
        text=True,
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        preexec_fn=small_files,
        check=False,
    )
    assert done.returncode == 3
    assert_one_line(done, "cannot write", "File too large")
    assert files_of(tmp_path / "model") == before
    assert names(tmp_path) == ["a", "b", "home", "model"]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("may not mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(fit: Fit, tiny_disk: Path, tmp_path: Path) -> None:
    fit("a", "-q", "--order", "1", "-o", "./disk/model")
    before = files_of(tiny_disk / "model")
    (tmp_path / "large").write_text(" ".join(f"word{k}" for k in range(5000)))
    done = fit("large", "-o", "./disk/model", "--force", code=3)
    assert_one_line(done, "No space left on device", "Free some space")
    assert files_of(tiny_disk / "model") == before
    assert names(tiny_disk) == ["model"]


KILLER = """
import os, signal, sys
from pathlib import Path
from lmkit.ngram.config import NgramConfig
from lmkit.tasks.families import open_model
from lmkit.tasks.fit_ngram import FitNgramConfig, fit_ngram

out = Path(sys.argv[2])
EVENTS = "open os.mkdir os.rename os.remove os.rmdir shutil.rmtree ctypes.dlopen".split()

def fit(kill_at):
    seen = 0
    def hook(event, arguments):
        nonlocal seen
        if event in EVENTS and (event[0] == "c" or str(arguments[0]).startswith(str(out.parent))):
            seen += 1
            if seen == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    fit_ngram([sys.argv[1]], out, FitNgramConfig(model=NgramConfig(order=2)), force=True)
    os._exit(0)

for kill_at in range(1, 100):
    pid = os.fork()
    if not pid:
        fit(kill_at)
    _, status = os.waitpid(pid, 0)
    print(open_model(out).order, len(list(out.parent.iterdir())), flush=True)
    if not os.WIFSIGNALED(status):
        break
"""


def test_a_fit_killed_at_any_step_leaves_the_old_model_or_the_new(fit: Fit, tmp_path: Path) -> None:
    """SIGKILL before each step that touches the disk, in turn."""
    (tmp_path / "out").mkdir()
    fit("a", "-q", "--order", "1", "-o", "./out/model")
    done = run(
        str(tmp_path / "a"),
        str(tmp_path / "out" / "model"),
        program=[sys.executable, "-c", KILLER],
    )
    assert done.returncode == 0, done.stderr
    states = [line.split() for line in done.stdout.splitlines()]
    orders = [int(order) for order, _ in states]
    assert len(states) > 10 and orders == sorted(orders) and set(orders) == {1, 2}
    assert max(int(entries) for _, entries in states) == 2, "leftovers pile up"
    assert states[-1] == ["2", "1"], "the next fit cleans up"


def start_fit(tmp_path: Path, *arguments: str, **settings: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*LMKIT, "ngram", "fit", *arguments, "-o", "./out/model"],
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        **settings,
    )


def test_a_fit_killed_now_or_then(fit: Fit, tmp_path: Path) -> None:
    fit("a", "-q", "--order", "1", "-o", "./out/model")
    large_text(tmp_path / "large")
    for delay in (0.4, 0.6, 0.8):
        with start_fit(tmp_path, "large", "--force", "--order", "3") as process:
            time.sleep(delay)
            process.kill()
        assert opened(tmp_path / "out" / "model").order in (1, 3)
        assert len(names(tmp_path / "out")) <= 2
    fit("b", "-q", "--force", "--order", "2", "-o", "./out/model")
    assert names(tmp_path / "out") == ["model"]


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGKILL, -9)]
)
@pytest.mark.parametrize("force", [False, True])
def test_signals_in_the_midst_of_reading(
    number: signal.Signals, code: int, force: bool, fit: Fit, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    options = []
    if force:
        fit("a", "-q", "--order", "1", "-o", "./out/model")
        options = ["--force"]
    with start_fit(tmp_path, *options, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stderr is not None
        process.stdin.write(TEXT.encode())
        process.stdin.flush()
        wait_for(lambda: [name for name in names(out) if name.startswith(".")])
        process.send_signal(number)
        assert process.wait(30) == code
        assert process.stderr.read() == b""
    left = names(out)
    assert ("model" in left) == force
    assert [name for name in left if name != "model"] == (
        [f".model.tmp-{process.pid}"] if number == signal.SIGKILL else []
    )
    fit("a", "-q", "-o", "./out/model", *options)
    assert names(out) == ["model"]


def test_a_sigterm_in_the_midst_of_the_work(fit: Fit, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    large_text(tmp_path / "large")
    with start_fit(tmp_path, "large", "--order", "5", "--progress", "json") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if b"estimating" in line or b"sorting" in line:
                break
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        code = process.wait(30)
    assert code in (143, 0)
    assert names(tmp_path / "out") == ([] if code else ["model"])
