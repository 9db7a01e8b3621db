"""The kernels on processors with fewer vector instructions than this one has."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite import binding
from numba.core import config
from programs import environment

from lmkit.embed.simd.emit import kernels

TRAINING = """
import sys
import numpy as np
from embed.predict.kernel_calls import COMPILED, Run, encoded
from lmkit.embed.simd.emit.kernels import WIDTH

words = np.random.default_rng(5).integers(0, 30, (8, 12)).tolist()
found = {"width": np.array([WIDTH])}
for name in ("skipgram_negative", "cbow_hierarchical"):
    run = Run(name, 30, 20, window=4)
    run.train(encoded(words), 0.1, 7)
    found[name] = np.stack([run.inputs, run.outputs])
np.savez(sys.argv[1], **found)
if len(sys.argv) > 2:
    with open(sys.argv[2], "w") as file:
        file.write("".join(COMPILED["skipgram_negative"].inspect_asm().values()))
"""
TARGETS = {
    "avx2": {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"},
    "plain": {"NUMBA_CPU_NAME": "x86-64", "NUMBA_CPU_FEATURES": ""},
}


def start(folder: Path, name: str, target: dict[str, str]) -> subprocess.Popen[bytes]:
    tests = str(Path(__file__).parents[2])
    paths = [str(folder / f"{name}.npz"), *([str(folder / f"{name}.s")] if target else [])]
    cache = {"NUMBA_CACHE_DIR": str(folder / name)} if target else {}
    variables = environment(PYTHONPATH=tests, **target, **cache)
    return subprocess.Popen([sys.executable, "-c", TRAINING, *paths], env=variables)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="names processors of that kind")
def test_trainings_agree(tmp_path: Path) -> None:
    """The vectors are the same but for rounding, and no instruction is used that is not there."""
    running = [start(tmp_path, name, target) for name, target in TARGETS.items()]
    with start(tmp_path, "normal", {}) as normal:
        assert normal.wait() == 0
    for process in running:
        assert process.wait() == 0
    expected = np.load(tmp_path / "normal.npz")
    code = {}
    for name in TARGETS:
        found = np.load(tmp_path / f"{name}.npz")
        assert found["width"] == 8
        for kernel in ("skipgram_negative", "cbow_hierarchical"):
            assert found[kernel] == pytest.approx(expected[kernel], abs=1e-3)
        code[name] = (tmp_path / f"{name}.s").read_text()
    assert "%zmm" not in code["avx2"] and "%zmm" not in code["plain"]
    assert "%ymm" in code["avx2"] and "%ymm" not in code["plain"]
    assert "vfmadd" in code["avx2"] and "vfmadd" not in code["plain"]


@pytest.mark.parametrize(
    ("name", "features", "has", "wide"),
    [
        (None, None, True, True),
        (None, None, False, False),
        ("host", None, True, True),
        (None, "", True, False),
        ("generic", "", True, False),
        ("x86-64", "", True, False),
        ("haswell", None, True, False),
        ("haswell", "+avx2,+fma", True, False),
        (None, "-avx512f", True, False),
        ("skylake-avx512", "+avx2,+avx512f", False, True),
    ],
)
def test_wide_registers_are_used_where_they_may(
    name: Any, features: Any, has: bool, wide: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "CPU_NAME", name)
    monkeypatch.setattr(config, "CPU_FEATURES", features)
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {"avx512f": has})
    assert bool(kernels._has_wide_registers()) == wide
