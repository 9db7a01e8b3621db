"""Several processes that train one model, as started by torchrun.

Each process takes its rows of every batch; losses, counts and gradients are summed over all. There
is one sum and one count a step, so that any number of processes takes the same steps.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class World:
    """The processes."""

    rank: int = 0
    """Which of them this is."""
    size: int = 1
    """How many there are."""

    @property
    def first(self) -> bool:
        """Whether this is the one that writes and shows progress."""
        return self.rank == 0

    def rows(self, count: int) -> slice:
        """Return which of ``count`` rows are this process's."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def add_up(self, *values: Tensor) -> None:
        """Replace each tensor by its sum over all processes."""
        if self.size > 1:
            import torch

            for value in values:
                torch.distributed.all_reduce(value)

    def add_gradients(self, weights: Sequence[Tensor]) -> None:
        """Replace the gradients of ``weights`` by their sums, all in one message."""
        if self.size == 1:
            return
        import torch

        grads = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
        flat = torch.cat([grad.reshape(-1) for grad in grads])
        torch.distributed.all_reduce(flat)
        parts = flat.split([grad.numel() for grad in grads])
        for weight, grad, part in zip(weights, grads, parts, strict=True):
            weight.grad = part.view_as(grad)

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.size > 1:
            import torch

            torch.distributed.barrier()

    @contextmanager
    def first_alone(self) -> Iterator[None]:
        """Let the first process do the block before all others do it."""
        if not self.first:
            self.wait()
        yield
        if self.first:
            self.wait()

    def leave(self) -> None:
        """Part from the other processes."""
        if self.size > 1:
            import torch

            torch.distributed.destroy_process_group()


def join_world() -> World:
    """Return the processes that torchrun started, connected; one alone without it."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return World()
    import torch

    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    return World(torch.distributed.get_rank(), size)
