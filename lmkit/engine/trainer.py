"""The one training loop.

A step adds up the loss of all micro-batches and processes and divides once by the number of
predicted tokens. The batch is a pure function of the step, and a checkpoint holds everything else,
so that a run killed at any moment and resumed ends, on a CPU, with the same weights bit for bit.
"""

from __future__ import annotations

import math
import resource
import time
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from lmkit.engine.averages import Averages
from lmkit.engine.checkpoint import (
    Checkpoint,
    checkpoints,
    keep_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from lmkit.engine.config import Arrays, HeldOut, Source, TrainingConfig, TrainingResult
from lmkit.engine.device import Machine
from lmkit.engine.distributed import World, join_world
from lmkit.engine.log import Log
from lmkit.engine.optim import gradient_norm, make_optimizer
from lmkit.engine.schedule import rate_factor
from lmkit.engine.signals import Stopped, StopSwitch
from lmkit.engine.validation import validate
from lmkit.errors import ModelError, UserError
from lmkit.events import SILENT, Listener
from lmkit.nn.linear import set_route
from lmkit.nn.network import State
from lmkit.nn.objective import Batch, Objective

VALIDATIONS = 8
"""In a run, unless something else is said."""
UNTIMED, TIMED = 3, 10
"""Steps after which ``minutes`` are turned into a number of steps: the first are slow."""
NO_CHECKPOINT = "There is no checkpoint yet: begin a new run with other settings"


class Trainer:
    """Trains the network of an objective.

    Args:
        objective: what is minimised; its network is moved to the machine's device.
        source: batches.
        config: how to train.
        machine: where to compute.
        directory: where ``checkpoints`` and ``log.jsonl`` go; None: nowhere.
        held_out: tokens to validate on.
        listener: hears of the progress.
    """

    def __init__(
        self,
        objective: Objective,
        source: Source,
        config: TrainingConfig,
        machine: Machine,
        *,
        directory: Path | None = None,
        held_out: HeldOut | None = None,
        listener: Listener = SILENT,
    ) -> None:
        self.world: World = join_world()
        self._objective = objective.to(machine.device)
        self._network = objective.network
        self._call = torch.compile(objective) if config.compile else objective
        self._source = source
        self._config = config
        self._machine = machine
        self._directory = directory if self.world.first else None
        self._read_from = directory
        self._held_out = held_out
        self._listener = listener if self.world.first else SILENT
        self._weights = [w for w in self._network.parameters() if w.requires_grad]
        self._optimizer = make_optimizer(self._network, config.optimizer)
        uniform = config.optimizer.kind == "asgd"
        self._averages = Averages(self._network, config.ema, uniform)
        self._log = Log(None if self._directory is None else self._directory / "log.jsonl")
        self._steps = 0 if config.minutes else config.schedule.steps
        self._step = self._tokens = self._count = 0
        self._micro_batch = config.micro_batch
        self._history: list[tuple[int, float]] = []
        self._loss = math.nan
        self._seconds = 0.0
        self._switch = StopSwitch()

    def run(self, resume: bool = False) -> TrainingResult:
        """Train; behind it the network has the weights of the best validation.

        Args:
            resume: go on from the newest checkpoint in the directory.

        Raises:
            UserError: a loss or gradient is not finite, or a checkpoint cannot be written.
            ModelError: the checkpoint is damaged or of another run.
            Stopped: a signal came; its step has a checkpoint.
        """
        torch.manual_seed(self._config.seed + self.world.rank)
        if resume:
            self._restore()
        else:
            self._log.cut(-1)
        self._begin_phase()
        with self._switch:
            while True:
                self._validate_if_due()
                self._save_if_due()
                self._stop_if_asked()
                if (self._steps and self._step >= self._steps) or self._impatient():
                    break
                self._advance()
        self._listener.finish()
        self._take_best()
        best = min(self._history, key=lambda entry: entry[1], default=(self._step, math.nan))
        return TrainingResult(
            steps=self._step,
            loss=self._loss,
            valid_loss=best[1],
            valid_count=self._count,
            best_step=best[0],
            tokens=self._tokens,
            seconds=self._seconds,
        )

    # ---------------------------------------------------------------- a step

    def _advance(self) -> None:
        """Take one step."""
        begin = time.perf_counter()
        batch = self._source.batch(self._step)
        loss, count = self._backward(batch)
        self.world.add_gradients(self._weights)
        self.world.add_up(loss, count)
        number = max(1, int(count))
        grads = [weight.grad for weight in self._weights if weight.grad is not None]
        torch._foreach_div_(grads, float(number))
        norm = float(gradient_norm(self._weights))
        self._loss = float(loss) / number
        if not (math.isfinite(self._loss) and math.isfinite(norm)):
            self._give_up(norm)
        clip = self._config.clip
        if clip and norm > clip:
            torch._foreach_mul_(grads, clip / norm)
        factor = self._factor()
        self._optimizer.step(factor, self._step)
        for weight in self._weights:
            weight.grad = None
        self._averages.update(self._step, self._steps)
        self._step += 1
        self._tokens += int(count)
        seconds = time.perf_counter() - begin
        self._seconds += seconds
        self._report(factor, norm, int(count), seconds)
        self._plan()

    def _backward(self, batch: Arrays) -> tuple[Tensor, Tensor]:
        """Add up gradients, loss and count of this process's rows; halve what does not fit."""
        carried, random = self._objective.carried, torch.get_rng_state()
        while True:
            try:
                return self._micro_batches(batch)
            except torch.OutOfMemoryError:
                rows = self._micro_batch or len(next(iter(batch.values())))
                if rows == 1:
                    raise UserError(
                        "one row of a batch does not fit into memory",
                        "Lower --context, or take a smaller model",
                    ) from None
                self._micro_batch = -(-rows // 2)
                self._listener.note(
                    f"out of memory: {self._micro_batch} rows at a time from here on; the batch "
                    "of a step stays as it is"
                )
                for weight in self._weights:
                    weight.grad = None
                self._objective.carried = carried
                torch.set_rng_state(random)

    def _micro_batches(self, batch: Arrays) -> tuple[Tensor, Tensor]:
        device = self._machine.device
        mine = self.world.rows(len(next(iter(batch.values()))))
        tensors = {name: torch.from_numpy(each[mine]).to(device) for name, each in batch.items()}
        rows = len(next(iter(tensors.values())))
        loss = torch.zeros((), dtype=torch.float64, device=device)
        count = torch.zeros((), dtype=torch.int64, device=device)
        if not rows:
            return loss, count
        size = self._micro_batch or rows
        before, after = self._objective.carried, []
        for begin in range(0, rows, size):
            part: Batch = {name: each[begin : begin + size] for name, each in tensors.items()}
            if before is not None and size < rows:
                self._objective.carried = before.rows(begin, begin + size)
            with self._machine.autocast():
                result = self._call(part)
            result.sum.backward()
            loss += result.sum.detach()
            count += result.count
            after.append(self._objective.carried)
        states = [state for state in after if state is not None]
        self._objective.carried = State.join(states) if states else None
        return loss, count

    def _factor(self) -> float:
        schedule = self._config.schedule
        if self._config.minutes:  # until the number of steps is known the rate does not fall
            schedule = replace(schedule, steps=self._steps or 1 << 40)
        return rate_factor(schedule, self._step, [loss for _, loss in self._history])

    def _give_up(self, norm: float) -> None:
        last = checkpoints(self._read_from / "checkpoints") if self._read_from else []
        hint = f"Checkpoint {last[-1].name} is whole: lower the rate" if last else NO_CHECKPOINT
        raise UserError(
            f"step {self._step}: the loss is {self._loss:g}, the norm of the gradient {norm:g}",
            hint,
        )

    def _plan(self) -> None:
        """Turn minutes into a number of steps, once the time of a step is known."""
        if not self._config.minutes or self._steps:
            return
        if self._step == UNTIMED:
            self._seconds = 0.0
        elif self._step == UNTIMED + TIMED:
            each = torch.tensor(self._seconds / TIMED, dtype=torch.float64)
            self.world.add_up(each)
            mean = float(each) / self.world.size
            self._steps = self._step + max(1, int(self._config.minutes * 60.0 / mean) - self._step)
            self._listener.note(f"{self._steps:,} steps fit into {self._config.minutes:g} minutes")
            self._begin_phase()

    # ---------------------------------------------------------------- progress

    def _begin_phase(self) -> None:
        self._listener.phase("training", self._steps or None, "steps")
        self._listener.advance(self._step)

    def _report(self, factor: float, norm: float, count: int, seconds: float) -> None:
        speed = count / seconds
        figures = {"loss": self._loss, "perplexity": math.exp(min(700.0, self._loss))}
        figures["tokens_per_s"] = speed
        if self._machine.gflops:
            work = 6.0 * self._network.num_parameters() * speed / 1e9
            figures["mfu_percent"] = 100.0 * work / self._machine.gflops
        figures["memory_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        self._listener.figures(**figures)
        self._listener.advance(1)
        self._log.write(
            step=self._step, loss=self._loss, tokens=self._tokens, rate=factor, norm=norm,
            seconds=round(seconds, 6), tokens_per_s=round(speed, 1),
        )  # fmt: skip

    # ---------------------------------------------------------------- validation

    def _due(self, every: int) -> bool:
        """Tell whether something that is done ``every`` so many steps is to be done now."""
        if not self._step:
            return False
        every = every or -(-self._steps // VALIDATIONS) if self._steps else every
        return self._step == self._steps or bool(every and self._step % every == 0)

    def _validate_if_due(self) -> None:
        done = bool(self._history) and self._history[-1][0] == self._step
        if self._held_out is None or done or not self._due(self._config.eval_every):
            return
        with self._averages.swapped_in():
            measured = validate(
                self._objective,
                self._held_out,
                self._machine,
                self.world,
                rows=self._config.eval_rows,
                stop=lambda: self._switch.number is not None,
            )
        if measured is None:
            return
        self._count = measured[1]
        loss = measured[0] / max(1, self._count)
        self._history.append((self._step, loss))
        self._log.write(step=self._step, valid_loss=loss, tokens=self._count)
        perplexity = math.exp(min(700.0, loss))
        self._listener.note(
            f"step {self._step:,}: held-out loss {loss:.4f} nats, perplexity {perplexity:.2f}"
        )

    def _impatient(self) -> bool:
        patience = self._config.patience
        if patience is None or len(self._history) <= patience:
            return False
        return self._step - self._best() > 0 and all(
            loss >= min(loss for _, loss in self._history[:-patience])
            for _, loss in self._history[-patience:]
        )

    def _best(self) -> int:
        """Return the step of the best validation; 0 without one."""
        return min(self._history, key=lambda entry: entry[1], default=(0, 0.0))[0]

    # ---------------------------------------------------------------- checkpoints

    def _save_if_due(self) -> None:
        if self._due(self._config.save_every or self._config.eval_every):
            self._save()

    def _stop_if_asked(self) -> None:
        """Save and stop if a signal came to any process."""
        number = torch.tensor(self._switch.number or 0, dtype=torch.int64)
        if self.world.size > 1:
            torch.distributed.all_reduce(number, op=torch.distributed.ReduceOp.MAX)
        if int(number):
            if self._step:
                self._save()
            raise Stopped(self._step, int(number))

    def _save(self) -> None:
        if self._directory is None:
            return
        memory = {f"optimizer.{name}": t for name, t in self._optimizer.tensors().items()}
        memory |= {f"average.{name}": t for name, t in self._averages.tensors.items()}
        carried = self._objective.carried
        if carried is not None:
            memory |= {f"carried.{name}": t for name, t in carried.tensors.items()}
        memory["random"] = torch.get_rng_state()
        facts = {
            "steps": self._steps, "tokens": self._tokens, "history": self._history,
            "count": self._count, "loss": self._loss, "threads": self._machine.threads,
            "route": self._machine.route, "micro_batch": self._micro_batch,
            "carried_length": None if carried is None else carried.length,
        }  # fmt: skip
        self._log.flush()
        weights = dict(self._network.named_parameters())
        directory = self._directory / "checkpoints"
        save_checkpoint(directory, Checkpoint(self._step, dict(weights), memory, facts))
        keep_checkpoints(directory, self._config.keep, self._best() or None)

    def _restore(self) -> None:
        """Go back to the newest checkpoint; without one there is nothing to go back to."""
        found = checkpoints(self._read_from / "checkpoints") if self._read_from else []
        if not found:
            self._log.cut(-1)
            return
        checkpoint = load_checkpoint(found[-1])
        self._load(checkpoint.weights)
        groups: dict[str, dict[str, Tensor]] = {}
        for name, tensor in checkpoint.memory.items():
            kind, _, rest = name.partition(".")
            groups.setdefault(kind, {})[rest] = tensor.to(self._machine.device)
        self._optimizer.restore(groups.get("optimizer", {}))
        self._averages.tensors = groups.get("average", {})
        facts = checkpoint.facts
        if "carried" in groups:
            self._objective.carried = State(groups["carried"], facts["carried_length"])
        torch.set_rng_state(checkpoint.memory["random"])
        self._step, self._steps = checkpoint.step, facts["steps"]
        self._tokens, self._count, self._loss = facts["tokens"], facts["count"], facts["loss"]
        self._micro_batch = facts["micro_batch"]
        self._history = [(int(step), float(loss)) for step, loss in facts["history"]]
        if self._machine.device.type == "cpu":  # the bits of a product depend on both
            torch.set_num_threads(facts["threads"])
            set_route(facts["route"])
        self._log.cut(self._step)
        self._listener.note(f"going on behind step {self._step:,}")

    def _load(self, weights: dict[str, Tensor]) -> None:
        own = dict(self._network.named_parameters())
        if own.keys() != weights.keys() or any(
            own[name].shape != tensor.shape for name, tensor in weights.items()
        ):
            raise ModelError("the checkpoint is of another network", "Begin a new run")
        with torch.no_grad():
            for name, tensor in weights.items():
                own[name].copy_(tensor)

    def _take_best(self) -> None:
        """Give the network the weights of the best validation, averaged if they are."""
        self.world.wait()
        best = self._best()
        path = None if self._read_from is None else self._read_from / "checkpoints" / str(best)
        if best in (0, self._step) or path is None or not path.is_dir():
            self._averages.settle()
            return
        checkpoint = load_checkpoint(path)
        averages = {
            name.removeprefix("average."): tensor
            for name, tensor in checkpoint.memory.items()
            if name.startswith("average.")
        }
        self._load({**checkpoint.weights, **averages})
