"""lmkit embed fit as a command: what it says where, how it ends, what an interruption leaves."""

from __future__ import annotations

import gzip
import json
import re
import signal
import subprocess
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ngram.fitting import Ended, assert_one_line, files_of, lmkit, names
from programs import LMKIT, environment, run

from lmkit.embed.model import open_vectors
from lmkit.store.artifact import open_artifact

TEXT = "the king sees the queen\nthe queen sees a king\na dog sees the cat\nthe cat a dog\n" * 3
SMALL = ["--loss", "hierarchical", "--size", "6", "--min-count", "1", "--subsample", "0"]
SMALL += ["--threads", "1"]
DONE = (
    r"lmkit: {name}: 7 words, 6 numbers each, from 57 tokens in 5 epochs of "
    r"\d+\.\d\dM words/s, loss \d\.\d{{4}}\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "text.txt").write_text(TEXT)
    return tmp_path


def fit(folder: Path, *arguments: str, code: int = 0, stdin: bytes = b"") -> Ended:
    return lmkit("embed", "fit", *arguments, cwd=folder, code=code, stdin=stdin)


def test_notes_are_on_stderr_only(folder: Path) -> None:
    done = run("embed", "fit", "text.txt", *SMALL, "-o", "./model", home=folder, cwd=folder)
    assert (done.returncode, done.stdout) == (0, "")
    *notes, last = done.stderr.splitlines(keepends=True)
    assert re.fullmatch(DONE.format(name="model"), last)
    assert all(note == "lmkit: compiling kernels, once on this machine\n" for note in notes)
    quiet = fit(folder, "text.txt", *SMALL, "-q", "-o", "./quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert files_of(folder / "quiet") == files_of(folder / "model")
    assert (folder / "home" / "models" / "last-embed").resolve() == folder / "quiet"


def test_threads_are_said_to_differ(folder: Path) -> None:
    done = fit(folder, "text.txt", *SMALL, "--threads", "2", "-o", "./model")
    assert "lmkit: 2 threads share the vectors, so runs differ a little; with --thr" in done.stderr


@pytest.mark.parametrize("source", [["-"], []])
def test_standard_input_and_the_usual_name(source: list[str], folder: Path) -> None:
    done = fit(folder, *source, *SMALL, stdin=TEXT.encode())
    path = folder / "home" / "models" / "skipgram-stdin"
    assert re.fullmatch(DONE.format(name=re.escape(str(path))), done.stderr)
    assert open_artifact(path).card["data"][0]["name"] == "<stdin>"


def test_compressed_text_gives_the_same_vectors(folder: Path) -> None:
    (folder / "packed.gz").write_bytes(gzip.compress(TEXT.encode()))
    fit(folder, "text.txt", *SMALL, "-o", "./model")
    fit(folder, "packed.gz", *SMALL, "-o", "./packed")
    tensors = [files_of(folder / name)["weights.safetensors"] for name in ("model", "packed")]
    assert tensors[0] == tensors[1]


def test_settings_are_printed_and_taken_from_a_file(folder: Path) -> None:
    done = fit(folder, "text.txt", *SMALL, "--arch", "cbow", "-o", "./model", "--print-config")
    printed = tomllib.loads(done.stdout)
    assert (printed["arch"], printed["size"], printed["subsample"]) == ("cbow", 6, 0.0)
    assert names(folder) == ["text.txt"]
    fit(folder, "text.txt", *SMALL, "--arch", "cbow", "-o", "./model")
    (folder / "printed.toml").write_text(done.stdout)
    fit(folder, "--config", "printed.toml", "-o", "./printed")
    assert files_of(folder / "printed") == files_of(folder / "model")
    repeated = ["--config", "model/config.toml", "text.txt", "--threads", "1"]
    fit(folder, *repeated, "-o", "./again")
    assert files_of(folder / "again") == files_of(folder / "model")
    fit(folder, *repeated, "--size", "5", "-o", "./other")
    assert open_artifact(folder / "other").config["size"] == 5


def test_training_goes_on(folder: Path) -> None:
    fit(folder, "text.txt", *SMALL, "-o", "./model")
    (folder / "new.txt").write_text("the king sees a unicorn\n" * 5)
    done = fit(folder, "new.txt", "--continue", "./model", "--threads", "1", "-o", "./grown")
    assert "grown: 8 words, 6 numbers each, from 25 tokens" in done.stderr
    assert open_vectors(open_artifact(folder / "grown")).index("unicorn") >= 0


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["text.txt", "--arch", "ppmi", "--negative", "5"], ["--negative means nothing for"]),
        (["text.txt", "--min-count", "50"], ["0 of 7 words reach min-count 50", "15 (the)"]),
        (["nowhere.txt"], ["nowhere.txt: no such file"]),
        (["empty.txt"], ["empty.txt: no words in the text"]),
        (["text.txt", *SMALL, "--learning-rate", "1e9"], ["diverged in epoch 1", "rate 1e+09"]),
        (["text.txt", "--continue", "./nowhere"], ["nowhere"]),
    ],
)
def test_errors_are_one_line(arguments: list[str], parts: list[str], folder: Path) -> None:
    (folder / "empty.txt").write_text("")
    done = fit(folder, *arguments, "--threads", "1", "-o", "./model", code=3)
    assert done.stdout == ""
    assert_one_line(done, *parts)
    assert names(folder) == ["empty.txt", "text.txt"]


def events(process: subprocess.Popen[bytes]) -> Any:
    assert process.stderr is not None
    for line in process.stderr:
        yield json.loads(line)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_keeps_the_last_epoch(number: signal.Signals, code: int, folder: Path) -> None:
    """The training would take hours; the model says how many epochs it is of."""
    words = np.random.default_rng(1).integers(0, 90, (500, 10))
    text = "".join(" ".join(f"w{word}" for word in row) + "\n" for row in words)
    (folder / "long.txt").write_text(text)
    command = ["embed", "fit", "long.txt", *SMALL, "--epochs", "1000000", "-o", "./model"]
    with subprocess.Popen(
        [*LMKIT, *command, "--progress", "json"],
        cwd=folder,
        env=environment(folder / "home"),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        told = events(process)
        size = next(e["total"] for e in told if e.get("phase") == "training") / 1_000_000
        seen = next(e for e in told if e.get("done", 0) >= 2 * size and "loss" in e)
        assert 0 < seen["loss"] < 20 and 0 < seen["rate"] <= 0.03
        process.send_signal(number)
        messages = [event["message"] for event in told if "message" in event]
        assert process.stdout.read() == b""
        assert process.wait(60) == code
    model = open_artifact(folder / "model", families=("embed",), verify="all")
    epochs = model.config["epochs"]
    assert 2 <= epochs < 1_000_000
    assert messages == [f"interrupted; model is the model of epoch {epochs}"]
    assert len(model.card["metrics"]["losses"]) == epochs
    assert np.isfinite(open_vectors(model).matrix).all()
    assert [name for name in names(folder) if "model" in name] == ["model"]


def test_a_signal_in_the_first_epoch_leaves_nothing(folder: Path) -> None:
    (folder / "long.txt").write_text(TEXT * 50_000)
    with subprocess.Popen(
        [*LMKIT, "embed", "fit", "long.txt", *SMALL, "-o", "./model", "--progress", "json"],
        cwd=folder,
        env=environment(folder / "home"),
        stderr=subprocess.PIPE,
    ) as process:
        told = events(process)
        next(event for event in told if event.get("phase") == "training")
        process.send_signal(signal.SIGINT)
        messages = [event["message"] for event in told if "message" in event]
        assert process.wait(60) == 130
    assert messages[-1] == "interrupted in the first epoch; nothing was written"
    assert names(folder) == ["long.txt", "text.txt"]


def test_a_signal_that_comes_twice_is_one(folder: Path) -> None:
    """``timeout`` signals the process it started and then the group that is in."""
    (folder / "long.txt").write_text(TEXT * 50_000)
    with subprocess.Popen(
        [*LMKIT, "embed", "fit", "long.txt", *SMALL, "-o", "./model", "--progress", "json"],
        cwd=folder,
        env=environment(folder / "home"),
        stderr=subprocess.PIPE,
    ) as process:
        next(event for event in events(process) if event.get("phase") == "training")
        process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    assert names(folder) == ["long.txt", "text.txt"]


def test_a_model_is_not_named_like_a_file(folder: Path) -> None:
    ended = run("embed", "fit", "text.txt", "-o", "./v.bin", home=folder / "home", cwd=folder)
    assert ended.returncode == 3
    assert "v.bin is named like a file of vectors. Name a model, then lmkit embed" in ended.stderr
    assert names(folder) == ["text.txt"]
