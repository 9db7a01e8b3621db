"""The training loop: resumption bit for bit, one sum and one count, and all that can go wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from engine.runs import CPU, STEPS, Killed, trainer

from lmkit.engine.checkpoint import checkpoints, load_checkpoint
from lmkit.engine.log import CLOCKS
from lmkit.engine.optim import OptimizerConfig
from lmkit.engine.schedule import ScheduleConfig
from lmkit.engine.signals import Stopped
from lmkit.engine.trainer import Trainer
from lmkit.errors import ModelError, UserError
from lmkit.events import Listener

TESTS = Path(__file__).parents[1]


def weights(made: Trainer) -> dict[str, torch.Tensor]:
    return {name: w.detach().clone() for name, w in made._network.named_parameters()}


def same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(
        torch.equal(first[name], second[name]) for name in first
    )


def log_of(directory: Path) -> list[dict[str, Any]]:
    lines = (directory / "log.jsonl").read_text("utf-8").splitlines()
    return [
        {key: value for key, value in json.loads(line).items() if key not in CLOCKS}
        for line in lines
    ]


def in_a_process(
    directory: Path, kind: str, step: int, number: int, *more: str, **variables: str
) -> subprocess.Popen[str]:
    arguments = [str(directory), kind, str(step), str(number), *(more or ("0.1", "muon"))]
    command = [sys.executable, "-m", "engine.runs", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1", **variables}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


@pytest.fixture(scope="module", params=["gpt", "lstm"])
def whole(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, dict[str, torch.Tensor]]:
    directory = tmp_path_factory.mktemp(request.param)
    made = trainer(directory, request.param)
    result = made.run()
    assert result.steps == STEPS
    return request.param, directory, weights(made)


def test_a_killed_run_ends_the_same(
    whole: tuple[str, Path, dict[str, torch.Tensor]], tmp_path: Path
) -> None:
    kind, directory, expected = whole
    for step in (7, 13, 22):  # between checkpoints, behind a validation, late
        process = in_a_process(tmp_path / str(step), kind, step, signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        made = trainer(tmp_path / str(step), kind)
        made.run(resume=True)
        assert same(weights(made), expected)
        assert log_of(tmp_path / str(step)) == log_of(directory)


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return str(one.getsockname()[1])


@pytest.mark.skipif(not torch.distributed.is_gloo_available(), reason="needs gloo")
@pytest.mark.parametrize("kind", ["gpt", "lstm"])
def test_two_processes_are_as_good_as_one(kind: str, tmp_path: Path) -> None:
    common = {"MASTER_ADDR": "localhost", "MASTER_PORT": free_port(), "WORLD_SIZE": "2"}
    processes = [
        in_a_process(tmp_path / "two", kind, -1, 0, "0.0", "adamw", RANK=str(rank), **common)
        for rank in range(2)
    ]
    try:
        said = [process.communicate(timeout=60)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    assert [process.returncode for process in processes] == [0, 0], said
    trainer(tmp_path / "one", kind, 0.0, "adamw").run()  # muon works in bfloat16
    one, two = log_of(tmp_path / "one"), log_of(tmp_path / "two")
    assert [line["step"] for line in one] == [line["step"] for line in two]
    for ours, theirs in zip(one, two, strict=True):
        key = "loss" if "loss" in ours else "valid_loss"
        assert ours[key] == pytest.approx(theirs[key], rel=1e-6)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_behind_a_checkpoint(
    whole: tuple[str, Path, dict[str, torch.Tensor]], tmp_path: Path, number: int
) -> None:
    kind, directory, expected = whole
    made = trainer(tmp_path, kind)
    made._source = Killed(made._source, 8, number)
    with pytest.raises(Stopped) as stopped:
        made.run()
    assert (stopped.value.step, stopped.value.number) == (9, number)
    assert checkpoints(tmp_path / "checkpoints")[-1].name == "9"
    again = trainer(tmp_path, kind)
    again.run(resume=True)
    assert same(weights(again), expected)
    assert log_of(tmp_path) == log_of(directory)


def test_the_compiler_is_not_loaded(tmp_path: Path) -> None:
    out, err = in_a_process(tmp_path, "gpt", -1, 0).communicate()
    assert out == "False\n", err


@pytest.mark.parametrize("kind", ["gpt", "lstm"])
@pytest.mark.parametrize("rows", [1, 3])
def test_micro_batches_add_up(kind: str, rows: int) -> None:
    losses = []
    for micro_batch in (None, rows):
        made = trainer(
            None, kind, micro_batch=micro_batch, schedule=ScheduleConfig(steps=6),
            optimizer=OptimizerConfig(kind="adamw", learning_rate=0.01),
        )  # fmt: skip
        made._objective.eval()
        for module in made._objective.modules():
            module.train = lambda mode=True, module=module: module  # type: ignore[method-assign]
        losses.append(made.run())
    assert losses[0].loss == pytest.approx(losses[1].loss, abs=1e-5)
    assert losses[0].valid_loss == pytest.approx(losses[1].valid_loss, abs=1e-5)
    assert losses[0].tokens == losses[1].tokens


@pytest.mark.parametrize("kind", ["muon", "adamw", "sgd", "asgd"])
def test_every_optimizer_learns(kind: Any) -> None:
    rate = 0.02 if kind in ("muon", "adamw") else 0.5
    made = trainer(
        None,
        optimizer=OptimizerConfig(kind=kind, learning_rate=rate, momentum=0.9),
        schedule=ScheduleConfig(steps=60, warmup=5),
        eval_every=60,
        clip=1.0,
    )
    assert made.run().valid_loss < 2.0  # ln 17 is 2.83


def test_the_average_is_validated_and_kept(tmp_path: Path) -> None:
    made = trainer(tmp_path, ema=0.9, save_every=8, eval_every=8)
    result = made.run()
    final = checkpoints(tmp_path / "checkpoints")[-1]
    memory = load_checkpoint(final).memory
    assert result.best_step == STEPS
    assert torch.equal(memory["average.embed"], dict(made._network.named_parameters())["embed"])


class Poisoned(Killed):
    """Batches after which the network holds a NaN."""

    def __init__(self, inner: Any, made: Trainer, step: int) -> None:
        super().__init__(inner, -1, 0)
        self.made, self.at = made, step

    def batch(self, step: int) -> Any:
        if step == self.at:
            with torch.no_grad():
                next(self.made._network.parameters()).fill_(float("nan"))
        return super().batch(step)


def test_what_is_not_finite_stops_the_run(tmp_path: Path) -> None:
    made = trainer(tmp_path)
    made._source = Poisoned(made._source, made, 12)
    with pytest.raises(UserError, match=r"step 12: the loss is nan.*Checkpoint 10 is whole"):
        made.run()
    for tensor in load_checkpoint(checkpoints(tmp_path / "checkpoints")[-1]).weights.values():
        assert torch.isfinite(tensor).all()


def test_out_of_memory_halves_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Hearing(Listener):
        def note(self, message: str) -> None:
            said.append(message)

    made = trainer(None, "lstm")
    made._listener = Hearing()
    inner = made._call

    def limited(batch: Any) -> Any:
        if len(batch["ids"]) > 3:
            raise torch.OutOfMemoryError("out of memory")
        return inner(batch)

    monkeypatch.setattr(made, "_call", limited)
    result = made.run()
    assert made._micro_batch == 2
    assert [line for line in said if "out of memory" in line][-1].startswith(
        "out of memory: 2 rows"
    )
    plain = trainer(None, "lstm", micro_batch=2)
    assert plain.run().valid_loss == pytest.approx(result.valid_loss, abs=0.3)
    assert plain._tokens == made._tokens


def test_patience_ends_a_run_that_gets_no_better() -> None:
    made = trainer(
        None,
        optimizer=OptimizerConfig(kind="sgd", learning_rate=0.0),
        schedule=ScheduleConfig(steps=100),
        eval_every=2,
        patience=3,
    )
    assert made.run().steps == 8


def test_minutes_become_steps(tmp_path: Path) -> None:
    made = trainer(tmp_path, minutes=0.01, eval_every=0, save_every=0)
    result = made.run()
    assert result.steps == made._steps > 13
    assert load_checkpoint(checkpoints(tmp_path / "checkpoints")[-1]).facts["steps"] == made._steps


def test_a_full_disk_keeps_the_checkpoint_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    made = trainer(tmp_path)
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (real if made._step < 8 else full)(handle))
    with pytest.raises(UserError, match=r"cannot save step 10: .*No space left"):
        made.run()
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["5"]
    load_checkpoint(tmp_path / "checkpoints" / "5")


def damage_truncate(path: Path) -> None:
    content = (path / "weights.safetensors").read_bytes()
    (path / "weights.safetensors").write_bytes(content[:-5])


def damage_flip(path: Path) -> None:
    content = bytearray((path / "optimizer.safetensors").read_bytes())
    content[len(content) // 2] ^= 1
    (path / "optimizer.safetensors").write_bytes(bytes(content))


def damage_state(path: Path) -> None:
    (path / "state.json").write_bytes(b'{"step": 5')


def damage_remove(path: Path) -> None:
    (path / "weights.safetensors").unlink()


@pytest.mark.parametrize("damage", [damage_truncate, damage_flip, damage_state, damage_remove])
def test_damaged_checkpoints_are_refused(tmp_path: Path, damage: Any) -> None:
    trainer(tmp_path).run()
    damage(checkpoints(tmp_path / "checkpoints")[-1])
    with pytest.raises(ModelError, match="is damaged"):
        trainer(tmp_path).run(resume=True)


def test_a_checkpoint_of_another_network_is_refused(tmp_path: Path) -> None:
    trainer(tmp_path, "gpt").run()
    with pytest.raises(ModelError, match="another network"):
        trainer(tmp_path, "lstm").run(resume=True)


def test_machines_are_described() -> None:
    assert CPU.describe() == "computing on the CPU, 1 threads, fp32, products by plain at 0 GFLOP/s"
