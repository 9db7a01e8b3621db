"""lmkit pretrain as a program: text in, a model out; stopped, resumed, refused, in a pipe."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ngram.fitting import Ended, assert_one_line, files_of, names
from programs import LMKIT, environment, run
from safetensors.numpy import load_file

LINES = ["the king sees the queen", "the queen sees the king", "a king sleeps", "the queen sleeps"]
TEXT = "".join(LINES[(3 * k + k // 7) % 4] + "\n" for k in range(400))
SMALL = ["--set", "num_layers=1", "--set", "num_features=16", "--set", "num_heads=2"]
SMALL += ["--context", "16", "--batch", "8", "--threads", "1"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text(TEXT)
    return tmp_path


def pretrain(folder: Path, *arguments: str, code: int = 0, stdin: bytes = b"") -> Ended:
    done = run("pretrain", *arguments, home=folder / "home", cwd=folder, stdin=stdin)
    assert done.returncode == code, done.stderr
    return done


def lmkit(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    done = run(*arguments, home=folder / "home", cwd=folder, stdin=stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


def log_of(model: Path) -> list[dict[str, Any]]:
    lines = (model / "log.jsonl").read_text().splitlines()
    clocks = ("seconds", "tokens_per_s")
    return [{k: v for k, v in json.loads(line).items() if k not in clocks} for line in lines]


def test_text_becomes_a_model_that_all_commands_take(folder: Path) -> None:
    done = pretrain(folder, "text", *SMALL, "--steps", "150", "-o", "./gpt")
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    found = re.fullmatch(
        r"lmkit: gpt: [\d,]+ parameters, 150 steps in [\d.]+ s; held out ([\d,]+) tokens: "
        r"loss ([\d.]+) nats, perplexity ([\d.]+)",
        last,
    )
    assert found, last
    assert int(found[1].replace(",", "")) == round(len(TEXT) * 0.1)
    assert float(found[3]) < 2.0, "four lines are easy to learn"
    assert names(folder) == ["gpt", "home", "text"], "nothing is left of the run"
    (folder / "test").write_text("the king sleeps\n")
    figures = json.loads(lmkit(folder, "eval", "-m", "./gpt", "--json", "test"))
    assert figures["tokens"] == 16 and figures["bits_per_byte"] < 3.0
    line = lmkit(folder, "sample", "-m", "./gpt", "--seed", "3", "the king")
    assert line.startswith("the king")
    scored = lmkit(folder, "score", "-m", "last-gpt", stdin=b"the king sees\nzzz\n")
    assert len(scored.splitlines()) == 2


def test_the_log_is_part_of_the_model(folder: Path) -> None:
    pretrain(folder, "text", *SMALL, "--steps", "16", "-q", "-o", "./gpt")
    log = log_of(folder / "gpt")
    assert [entry["step"] for entry in log if "loss" in entry] == list(range(1, 17))
    validations = [entry for entry in log if "valid_loss" in entry]
    assert [entry["step"] for entry in validations] == list(range(2, 17, 2))
    card = json.loads((folder / "gpt" / "card.json").read_bytes())
    best = min(entry["valid_loss"] for entry in validations)
    assert card["metrics"]["valid_loss"] == best


@pytest.mark.parametrize("arch", ["lstm", "gru", "rnn", "nplm"])
def test_every_architecture_reads_a_pipe(arch: str, folder: Path) -> None:
    done = pretrain(
        folder, "--arch", arch, "--unit", "word", "--steps", "60", "--batch", "16",
        "--threads", "1", "-o", f"./{arch}", stdin=TEXT.encode(),
    )  # fmt: skip
    perplexity = float(done.stderr.split()[-1])
    assert perplexity < 3.5
    assert done.stdout == ""


def killed(folder: Path, out: str, number: int, at: int, *arguments: str) -> tuple[int, str]:
    """Train in a process that gets a signal behind step ``at``; return how it ended."""
    command = [*LMKIT, "pretrain", "text", *SMALL, *arguments, "-o", f"./{out}"]
    process = subprocess.Popen(
        [sys.executable, "-c", SIGNALLED, str(number), str(at), *command[3:]],
        cwd=folder, env=environment(folder / "home"), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    _, err = process.communicate(timeout=120)
    return process.returncode, err


SIGNALLED = """
import os, sys
from lmkit.text import batches
number, at = int(sys.argv[1]), int(sys.argv[2])
read = batches.Windows.batch
def batch(self, step):
    if step == at:
        os.kill(os.getpid(), number)
    return read(self, step)
batches.Windows.batch = batch
sys.argv = ["lmkit", *sys.argv[3:]]
from lmkit.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_stopped_run_ends_with_the_same_model(number: int, code: int, folder: Path) -> None:
    more = ["--steps", "40", "--save-every", "5", "--set", "dropout=0.1"]
    pretrain(folder, "text", *SMALL, *more, "-o", "./whole")
    returned, err = killed(folder, "halved", number, 17, *more)
    assert returned == code, err
    if number != signal.SIGKILL:
        assert "go on with: lmkit pretrain text" in err and "--resume" in err
        assert "stopped behind step 18;" in err
    assert "halved" not in names(folder), "no half model"
    again = pretrain(folder, "text", *SMALL, *more, "-o", "./halved", code=3)
    assert_one_line(again, "a stopped run of halved has checkpoints", "--resume")
    other = pretrain(folder, "text", *SMALL, "--steps", "41", "--resume", "-o", "./halved", code=3)
    assert_one_line(other, "other settings or texts", "Give the same command")
    pretrain(folder, "text", *SMALL, *more, "--resume", "-o", "./halved")
    first, second = (
        load_file(folder / name / "weights.safetensors") for name in ("whole", "halved")
    )
    assert first.keys() == second.keys()
    assert all((first[name] == second[name]).all() for name in first)
    assert log_of(folder / "whole") == log_of(folder / "halved")
    assert names(folder) == ["halved", "home", "text", "whole"]


def test_force_begins_anew(folder: Path) -> None:
    killed(folder, "gpt", signal.SIGTERM, 3, "--steps", "10")
    done = pretrain(folder, "text", *SMALL, "--steps", "4", "--force", "-o", "./gpt")
    assert " 4 steps" in done.stderr
    before = files_of(folder / "gpt")
    refused = pretrain(folder, "text", *SMALL, "--steps", "4", "-o", "./gpt", code=3)
    assert_one_line(refused, "exists", "--force")
    assert files_of(folder / "gpt") == before


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("", [], ["the text is empty"]),
        ("abc\n" * 5, ["--context", "64"], ["18 tokens", "64", "--context 9"]),
        (TEXT, ["--steps", "5", "--epochs", "2"], ["--steps and --epochs exclude each other"]),
        (TEXT, ["--set", "num_layer=2"], ["no setting 'num_layer'", "Did you mean num_layers?"]),
        (TEXT, ["--set", "num_heads=3"], ["num_heads"]),
        (TEXT, ["--set", "num_heads"], ["is not KEY=VALUE"]),
        (TEXT, ["--arch", "lstm", "--size", "gpt2"], ["lstm has no size gpt2"]),
        (TEXT, ["--valid", "nowhere"], ["nowhere"]),
        (TEXT, ["--resume"], ["no stopped run", "Leave out --resume"]),
        (TEXT, ["--unit", "nothing"], ["no unit 'nothing'"]),
        (
            TEXT,
            ["--arch", "nplm", "--learning-rate", "1e38", "--optimizer", "sgd"],
            ["step ", "loss"],
        ),
        (TEXT, ["--valid-fraction", "0"], ["--valid-fraction 0.0"]),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    text: str, arguments: list[str], words: list[str], folder: Path
) -> None:
    (folder / "text").write_text(text)
    done = pretrain(folder, "text", "--threads", "1", *arguments, "-q", "-o", "./gpt", code=3)
    assert_one_line(done, *words)
    assert "gpt" not in names(folder)


def test_a_short_text_gets_a_short_context(folder: Path) -> None:
    (folder / "text").write_text("abc\n" * 5)
    done = pretrain(folder, "text", "--threads", "1", "--steps", "3", "-o", "./gpt")
    assert "the text has 18 tokens: a context of 9 instead of 64" in done.stderr
    done = pretrain(
        folder, "text", "--arch", "lstm", "--batch", "2", "--steps", "3", "--threads", "1",
        "-o", "./lstm",
    )  # fmt: skip
    assert "lmkit: lstm: " in done.stderr


def test_two_processes_make_the_model_of_one(folder: Path) -> None:
    """As torchrun starts them; one reads and writes, both train."""
    more = ["--steps", "12", "--optimizer", "adamw"]
    pretrain(folder, "text", *SMALL, *more, "-o", "./one")
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    torchrun += ["--nproc-per-node", "2", "-m", "lmkit"]
    done = run(
        "pretrain", "text", *SMALL, *more, "-o", "./two",
        home=folder / "home", cwd=folder, program=torchrun, OMP_NUM_THREADS="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("lmkit: two: ") == 1
    losses = [
        [entry.get("loss", entry.get("valid_loss")) for entry in log_of(folder / name)]
        for name in ("one", "two")
    ]
    assert losses[0] == pytest.approx(losses[1], abs=1e-6)
