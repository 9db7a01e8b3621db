"""Says on what machine, and with which versions, something was measured."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping

_VERSIONS = """
import json, lmkit, llvmlite, numba, numpy
modules = {"lmkit": lmkit, "numpy": numpy, "numba": numba, "llvmlite": llvmlite}
print(json.dumps({name: module.__version__ for name, module in modules.items()}))
"""


def describe(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the facts of this machine that decide how fast it is, by name."""
    versions = subprocess.run(
        [sys.executable, "-c", _VERSIONS],
        env=dict(environment),
        capture_output=True,
        text=True,
        check=True,
    )
    return {
        "processor": _first("/proc/cpuinfo", "model name") or platform.processor(),
        "instruction sets": _instruction_sets(),
        "cores": str(len(os.sched_getaffinity(0))),
        "cache": _first("/proc/cpuinfo", "cache size") or "unknown",
        "memory": f"{os.sysconf('SC_PHYS_PAGES') * os.sysconf('SC_PAGE_SIZE') / 1e9:.1f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "Python": platform.python_version(),
        **json.loads(versions.stdout),
    }


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


def _first(path: str, name: str) -> str | None:
    """Return the value of the first line ``name : value`` of a file of the system."""
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                key, _, value = line.partition(":")
                if key.strip() == name:
                    return value.strip()
    except OSError:
        pass
    return None


def _instruction_sets() -> str:
    flags = set((_first("/proc/cpuinfo", "flags") or "").split())
    wide = [name for name in ("avx2", "avx512f", "avx512vl", "avx512vbmi2") if name in flags]
    return ", ".join(wide) or "unknown"
