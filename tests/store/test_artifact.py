"""Model directories appear whole or not at all, and damaged ones are refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import lmkit.store.artifact as artifact_module
from lmkit.errors import ModelError
from lmkit.store.artifact import ArtifactWriter, check_free, open_artifact
from lmkit.store.card import encode_card


def make(path: Path, order: int = 3, force: bool = False) -> Path:
    with ArtifactWriter(path, force) as writer:
        with writer.add_tensors() as tensors:
            tensors.append("counts", np.arange(order * 10, dtype=np.uint32))
        with writer.add_file("vocab.tsv") as file:
            file.write(b"a\nb\n")
        writer.describe(family="ngram", config={"order": order}, seed=1, settings={"order": order})
    return path


def test_written_model_opens(tmp_path: Path) -> None:
    model = open_artifact(make(tmp_path / "deep" / "model"), ["ngram"], verify="all")
    assert model.family == "ngram"
    assert model.config == {"order": 3}
    assert model.array("counts").sum() == 435
    assert model.file("vocab.tsv").read_bytes() == b"a\nb\n"
    assert (model.path / "config.toml").read_text() == "order = 3\n"
    assert os.listdir(model.path.parent) == ["model"]
    with pytest.raises(ModelError, match="no array 'weights'"):
        model.array("weights")
    with pytest.raises(ModelError, match="lists no file log"):
        model.file("log")


def test_card_is_the_same_bytes_each_time_and_names_no_path(tmp_path: Path) -> None:
    first, second = make(tmp_path / "one"), make(tmp_path / "two")
    assert (first / "card.json").read_bytes() == (second / "card.json").read_bytes()
    card = json.loads((first / "card.json").read_text())
    assert list(card) == sorted(card)
    assert str(tmp_path) not in (first / "card.json").read_text()


def test_existing_is_refused_without_force(tmp_path: Path) -> None:
    make(tmp_path / "model")
    with pytest.raises(ModelError, match="exists. Pass --force"):
        make(tmp_path / "model", 4)
    assert open_artifact(tmp_path / "model").config["order"] == 3


@pytest.mark.parametrize("exchange", [True, False])
def test_force_replaces(tmp_path: Path, exchange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange:
        monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    make(tmp_path / "model")
    make(tmp_path / "model", 4, force=True)
    assert open_artifact(tmp_path / "model").config["order"] == 4
    assert os.listdir(tmp_path) == ["model"]


def test_force_never_replaces_what_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "file").touch()
    for name in ("thesis", "file", "."):
        with pytest.raises(ModelError, match="not a model"):
            make(tmp_path / name, force=True)
    assert sorted(os.listdir(tmp_path)) == ["file", "thesis"]


def test_link_is_followed(tmp_path: Path) -> None:
    make(tmp_path / "model")
    (tmp_path / "link").symlink_to("model")
    make(tmp_path / "link", 5, force=True)
    assert open_artifact(tmp_path / "model").config["order"] == 5
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "model"]


def test_error_leaves_the_old_model(tmp_path: Path) -> None:
    make(tmp_path / "model")
    with (
        pytest.raises(RuntimeError),
        ArtifactWriter(tmp_path / "model", force=True) as writer,
        writer.add_file("half") as file,
    ):
        file.write(b"half")
        raise RuntimeError
    assert open_artifact(tmp_path / "model").config["order"] == 3
    assert os.listdir(tmp_path) == ["model"]


def test_not_writable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelError, match="cannot write .*file/model: .*/file is in the way"):
        make(tmp_path / "file" / "model")


KILLED = """
import os, signal, sys
import numpy as np
from lmkit.store.artifact import ArtifactWriter
with ArtifactWriter(sys.argv[1], force=True) as writer:
    with writer.add_tensors() as tensors:
        tensors.append("counts", np.zeros(1000, np.uint32))
    writer.describe(family="ngram", config={"order": 9})
    print("written", flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def test_killed_writer_leaves_the_old_model_and_the_next_one_tidies(tmp_path: Path) -> None:
    make(tmp_path / "model")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "model"), "die"]
    ended = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2
    assert open_artifact(tmp_path / "model").config["order"] == 3
    make(tmp_path / "model", 4, force=True)
    assert os.listdir(tmp_path) == ["model"]


def test_living_writer_is_left_alone(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path / "model"), "live"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None and other.stdout.readline() == b"written\n"
        make(tmp_path / "model", 4)
        other.communicate(b"")
    assert open_artifact(tmp_path / "model").config["order"] == 9
    assert os.listdir(tmp_path) == ["model"]


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)


def cut(path: Path, size: int) -> None:
    os.truncate(path, size)


def recard(path: Path, **changes: object) -> None:
    card = json.loads((path / "card.json").read_text())
    del card["checksum"]
    (path / "card.json").write_bytes(encode_card({**card, **changes}))


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no card": (lambda m: (m / "card.json").unlink(), "not a lmkit model: it has no card.json"),
    "no file": (lambda m: (m / "vocab.tsv").unlink(), "vocab.tsv is missing"),
    "cut weights": (lambda m: cut(m / "weights.safetensors", 16390), "16390 bytes instead of"),
    "cut card": (lambda m: cut(m / "card.json", 50), "card.json is not what was written"),
    "empty card": (lambda m: cut(m / "card.json", 0), "card.json is not what was written"),
    "list card": (lambda m: (m / "card.json").write_text("[]"), "damaged"),
    "flipped card": (lambda m: flip(m / "card.json", 100), "damaged"),
    "flipped weights": (lambda m: flip(m / "weights.safetensors", 16400), "wrong checksum"),
    "flipped vocab": (lambda m: flip(m / "vocab.tsv", 0), "wrong checksum"),
    "newer": (lambda m: recard(m, format=99), "newer lmkit .*format 99, this one reads 1"),
    "no format": (lambda m: recard(m, format=None), "damaged"),
    "escape": (lambda m: recard(m, files={"../x": {"size": 0}}), "outside itself"),
    "other family": (lambda m: recard(m, family="gpt"), "a gpt model; this command needs an ngram"),
    "gone": (lambda m: shutil.rmtree(m), "no model at"),
    "file": (lambda m: (shutil.rmtree(m), m.touch()), "is a file, not a model directory"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_model_is_refused_in_one_line(tmp_path: Path, damage: str) -> None:
    model = make(tmp_path / "model")
    act, message = DAMAGES[damage]
    act(model)
    with pytest.raises(ModelError, match=message) as caught:
        open_artifact(model, ["ngram"])
    assert "\n" not in str(caught.value)


def test_large_files_are_verified_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(tmp_path / "model")
    flip(model / "weights.safetensors", 16400)
    monkeypatch.setattr(artifact_module, "SMALL", 1000)
    open_artifact(model)
    with pytest.raises(ModelError, match="wrong checksum"):
        open_artifact(model, verify="all")


def test_check_free(tmp_path: Path) -> None:
    check_free(tmp_path / "new", force=False)
    (tmp_path / "dangling").symlink_to("nowhere")
    with pytest.raises(ModelError, match="exists"):
        check_free(tmp_path / "dangling", force=False)
