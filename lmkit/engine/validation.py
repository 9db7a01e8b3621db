"""The loss on all held-out tokens."""

from __future__ import annotations

from collections.abc import Callable

import torch

from lmkit.engine.config import HeldOut
from lmkit.engine.device import Machine
from lmkit.engine.distributed import World
from lmkit.nn.objective import Objective


def validate(
    objective: Objective,
    held_out: HeldOut,
    machine: Machine,
    world: World,
    *,
    rows: int,
    stop: Callable[[], bool],
) -> tuple[float, int] | None:
    """Return the summed loss, in float64, and the number of tokens; None: ``stop`` said so.

    Processes share the batches, unless a state is carried from one to the next: then each process
    reads them all.

    Args:
        objective: what is measured; what it carries comes back behind it.
        held_out: the tokens.
        machine: where to compute.
        world: the processes; one alone can be stopped.
        rows: of a batch.
        stop: asked before each batch.
    """
    carried, carries = objective.carried, bool(getattr(objective, "carry", False))
    objective.carried = None
    objective.eval()
    total = torch.zeros((), dtype=torch.float64, device=machine.device)
    count = torch.zeros((), dtype=torch.int64, device=machine.device)
    try:
        with torch.no_grad():
            for number, batch in enumerate(held_out.everything(rows)):
                if world.size == 1 and stop():
                    return None
                if not carries and number % world.size != world.rank:
                    continue
                tensors = {
                    name: torch.from_numpy(x).to(machine.device) for name, x in batch.items()
                }
                with machine.autocast():
                    result = objective(tensors)
                total += result.sum.double()
                count += result.count
    finally:
        objective.train()
        objective.carried = carried
    if not carries:
        world.add_up(total, count)
    return float(total), int(count)
