"""The checksum does not depend on how the bytes arrive, and finds every flipped bit."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lmkit.store.checksum import Sum64, checksum_file


def digest(*parts: bytes) -> str:
    total = Sum64()
    for part in parts:
        total.update(part)
    return total.digest()


def plain_twin(data: bytes) -> str:
    padded = data + bytes(-len(data) % 8)
    words = [int.from_bytes(padded[i : i + 8], "little") for i in range(0, len(padded), 8)]
    return f"sum64:{(sum(words) + len(data) * 0x9E3779B97F4A7C15) % 2**64:016x}"


@given(st.lists(st.binary(max_size=40)))
def test_chunks_do_not_matter(parts: list[bytes]) -> None:
    assert digest(*parts) == digest(b"".join(parts)) == plain_twin(b"".join(parts))


@given(st.binary(min_size=1, max_size=100), st.data())
def test_flipped_bit_is_found(data: bytes, choice: st.DataObject) -> None:
    place = choice.draw(st.integers(0, len(data) - 1))
    bit = choice.draw(st.integers(0, 7))
    damaged = bytearray(data)
    damaged[place] ^= 1 << bit
    assert digest(bytes(damaged)) != digest(data)


@given(st.binary(max_size=30), st.binary(max_size=30))
def test_header_may_come_last(header: bytes, rest: bytes) -> None:
    header = header.ljust(32)
    total = Sum64()
    total.update(bytes(32))
    total.update(rest)
    total.replace_zeros(header)
    assert total.digest() == digest(header + rest)


def test_length_counts() -> None:
    assert digest(bytes(8)) != digest(bytes(16)) != digest(b"")


def test_file(tmp_path: Path) -> None:
    data = np.random.default_rng(0).bytes(100_003)
    (tmp_path / "file").write_bytes(data)
    (tmp_path / "empty").write_bytes(b"")
    assert checksum_file(tmp_path / "file") == plain_twin(data)
    assert checksum_file(tmp_path / "empty") == plain_twin(b"")
