"""Where and how to compute: device, threads, precision, and the route of products on a CPU."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from lmkit.errors import UserError
from lmkit.nn.linear import choose_route, set_route

DeviceName = Literal["auto", "cpu", "cuda", "mps"]
Precision = Literal["auto", "fp32", "bf16"]

CGROUP_LIMIT = Path("/sys/fs/cgroup/cpu.max")


@dataclass(frozen=True, slots=True)
class Machine:
    """What was chosen."""

    device: torch.device
    precision: Literal["fp32", "bf16"]
    threads: int
    """Of the CPU; what is bit for bit the same depends on it."""
    route: str
    """How products are computed on the CPU."""
    gflops: float
    """Measured peak of products on a CPU, 10^9 operations a second; 0 elsewhere."""

    def autocast(self) -> AbstractContextManager[object]:
        """Return the context in which the forward pass runs."""
        if self.precision == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()

    def describe(self) -> str:
        """Say what was chosen, in a line."""
        if self.device.type == "cpu":
            speed = f", products by {self.route} at {self.gflops:.0f} GFLOP/s"
            return f"computing on the CPU, {self.threads} threads, {self.precision}{speed}"
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else "mps"
        return f"computing on {name}, {self.precision}"


def choose_machine(
    device: DeviceName = "auto", precision: Precision = "auto", threads: int | None = None
) -> Machine:
    """Choose what is quickest on this machine, and set torch up for it.

    Raises:
        UserError: the device that was asked for is not there.
    """
    chosen = torch.device(_device(device))
    low = precision == "bf16" or (precision == "auto" and chosen.type == "cuda")
    count = threads or free_cores()
    torch.set_num_threads(count)
    if chosen.type != "cpu":
        set_route("plain")
        return Machine(chosen, "bf16" if low else "fp32", count, "plain", 0.0)
    route = choose_route()
    return Machine(chosen, "bf16" if low else "fp32", count, route.name, route.gflops)


def _device(name: DeviceName) -> str:
    there = {
        "cuda": bool(torch.cuda.is_available()),
        "mps": bool(torch.backends.mps.is_available()),
        "cpu": True,
    }
    if name == "auto":
        return next(each for each, is_there in there.items() if is_there)
    if not there[name]:
        raise UserError(f"there is no {name} device on this machine", "Leave out --device")
    return name


def free_cores() -> int:
    """Return how many cores this process may keep busy: its affinity, and the container's limit."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    try:
        quota, period = CGROUP_LIMIT.read_bytes().split()
        if quota != b"max":
            cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass
    return cores
