"""Tensor files: what is written comes back, here and in the safetensors package."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

from lmkit.errors import ModelError
from lmkit.store.arrays import DTYPES, TensorFileWriter, map_tensors
from lmkit.store.artifact import ModelFile
from lmkit.store.checksum import checksum_file


def write(path: Path, arrays: dict[str, np.ndarray[Any, Any]], header_block: int = 16384) -> str:
    path.unlink(missing_ok=True)
    file = ModelFile(path)
    try:
        with TensorFileWriter(file, header_block) as tensors:
            for name, array in arrays.items():
                tensors.append(name, array)
    finally:
        file.close()
    return file.sum.digest()


SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3)


@given(specs=st.lists(st.tuples(st.sampled_from(sorted(DTYPES)), SHAPES), max_size=6))
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, specs: list[tuple[str, list[int]]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.safetensors"
    rng = np.random.default_rng(3)
    arrays = {
        f"t{i}": rng.integers(0, 2, shape).astype(DTYPES[code])
        for i, (code, shape) in enumerate(specs)
    }
    digest = write(path, arrays)
    assert digest == checksum_file(path)
    mapped, loaded = map_tensors(path), load_file(path)
    assert list(mapped) == list(arrays)
    for name, array in arrays.items():
        for other in (mapped[name], loaded[name]):
            assert other.dtype == array.dtype
            np.testing.assert_array_equal(other, array)
        assert mapped[name].flags.aligned


def test_chunks(tmp_path: Path) -> None:
    rows = np.arange(60, dtype=np.uint32).reshape(12, 5)
    file = ModelFile(tmp_path / "file")
    with TensorFileWriter(file) as tensors:
        tensors.append("odd", np.ones(3, np.uint8))
        tensors.start("rows", np.uint32, (5,))
        for begin in range(0, 12, 5):
            tensors.write(rows[begin : begin + 5])
        assert tensors.end() == 12
        tensors.append("sentinel", rows[:1])
        tensors.append("strided", rows[:, ::2])
    file.close()
    mapped = map_tensors(tmp_path / "file")
    np.testing.assert_array_equal(mapped["rows"], rows)
    np.testing.assert_array_equal(mapped["strided"], rows[:, ::2])
    np.testing.assert_array_equal(mapped.span("rows", "sentinel"), [*rows, rows[0]])
    with pytest.raises(ModelError, match="do not form one array"):
        mapped.span("rows", "strided")


def test_reads_files_of_the_package(tmp_path: Path) -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([1, 2], np.uint16)}
    save_file(arrays, tmp_path / "file", metadata={"made": "elsewhere"})
    mapped = map_tensors(tmp_path / "file")
    assert set(mapped) == {"a", "b"}
    np.testing.assert_array_equal(mapped["a"], arrays["a"])


def test_writing_to_a_mapped_array_leaves_the_file(tmp_path: Path) -> None:
    digest = write(tmp_path / "file", {"a": np.ones(4, np.float32)})
    mapped = map_tensors(tmp_path / "file")
    mapped["a"][:] = 7
    assert checksum_file(tmp_path / "file") == digest
    assert map_tensors(tmp_path / "file")["a"].tolist() == [1, 1, 1, 1]


def test_many_tensors_need_a_larger_header_block(tmp_path: Path) -> None:
    arrays = {f"layer.{i}.weight": np.ones(1, np.float32) for i in range(300)}
    with pytest.raises(AssertionError, match="reserved"):
        write(tmp_path / "file", arrays)
    write(tmp_path / "file", arrays, header_block=1 << 16)
    assert len(map_tensors(tmp_path / "file")) == 300


def damage_length(data: bytes) -> bytes:
    return (1 << 60).to_bytes(8, "little") + data[8:]


def edited(**changes: object) -> Any:
    def edit(data: bytes) -> bytes:
        header = json.loads(data[8:16384])
        header["a"].update(changes)
        return data[:8] + json.dumps(header).encode().ljust(16376) + data[16384:]

    return edit


DAMAGES = {
    "empty": lambda data: b"",
    "cut in the header": lambda data: data[:500],
    "cut in a tensor": lambda data: data[:-3],
    "tail": lambda data: data + b"x",
    "header length": damage_length,
    "no json": lambda data: data[:8] + b"[" + data[9:],
    "not a table": lambda data: data[:8] + b"[1]".ljust(16376) + data[16384:],
    "dtype": edited(dtype="F99"),
    "dtype of another size": edited(dtype="F64"),
    "shape": edited(shape=[7]),
    "negative": edited(shape=[-1, -4]),
    "offsets": edited(data_offsets=[4, 20]),
    "far offsets": edited(data_offsets=[0, 1 << 50]),
    "no offsets": edited(data_offsets=None),
    "float": edited(shape=[4.0]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_refused(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "file"
    write(path, {"a": np.ones(4, np.float32), "b": np.ones(2, np.float32)})
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.raises(ModelError, match="damaged"):
        map_tensors(path)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="No such file"):
        map_tensors(tmp_path / "none")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_full_disk(tmp_path: Path) -> None:
    file = ModelFile(tmp_path / "file")
    file._file.close()
    with Path("/dev/full").open("wb", buffering=0) as file._file:
        with pytest.raises(ModelError, match="No space left on device. Free some space"):
            file.write(b"x" * 100)
        file.abandon()


def test_arrays_that_were_forgotten_are_read_again(tmp_path: Path) -> None:
    arrays = {"first": np.arange(3000), "rows": np.arange(1 << 18).reshape(-1, 64)}
    write(tmp_path / "t", arrays)
    tensors = map_tensors(tmp_path / "t")
    for part in (tensors["rows"], tensors["rows"][100:200], tensors["first"], tensors["first"][:0]):
        expected = part.copy()
        tensors.forget(part)
        assert np.array_equal(part, expected)
    assert np.array_equal(tensors["first"], arrays["first"])
