"""Writing an n-gram model directory while it is still being estimated.

Layout of weights.safetensors: ``order1`` .. ``order{N-1}`` uint32 [count, 5] (word, log
probability, back-off, link, first child; the two in the middle float32 bits, natural
logarithms), ``sentinel`` [1, 5], ``order{N}`` uint32 [count, 3] (word, log probability, link),
``wide`` (hash table), and the arrays of the tokenizer. See ``query/kernels.py`` for their use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lmkit.ngram.config import NgramConfig
from lmkit.ngram.estimate.discounts import Discounts
from lmkit.store.arrays import TensorFileWriter
from lmkit.store.artifact import ArtifactWriter
from lmkit.text.restore import StoredTokenizer

_CHUNK = 1 << 18
"""Rows turned into logarithms at a time."""


class RecordWriter:
    """The sink of an estimator: takes the logarithms and writes, in a thread of its own."""

    def __init__(self, tensors: TensorFileWriter, order: int) -> None:
        self._tensors = tensors
        self._order = order
        self._thread = ThreadPoolExecutor(1)
        self._pending: list[Future[None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._thread.shutdown(cancel_futures=kind is not None)
        if kind is None:
            for future in self._pending:
                future.result()

    def __call__(self, n: int, records: NDArray[np.uint32], end: int) -> Callable[[], None]:
        """Write the records of order ``n``; ``end`` is the state behind their last child.

        Returns:
            What waits until they are written.
        """
        self._pending.append(self._thread.submit(self._write, n, records, end))
        return self._pending[-1].result

    def append(self, name: str, array: NDArray[Any]) -> None:
        """Write another array behind the records."""
        self._pending.append(self._thread.submit(self._tensors.append, name, array))

    def _write(self, n: int, records: NDArray[np.uint32], end: int) -> None:
        inner = n < self._order or n == 1
        self._tensors.start(f"order{n}", np.uint32, (5 if inner else 3,))
        for begin in range(0, len(records), _CHUNK):
            chunk = records[begin : begin + _CHUNK]
            if inner:
                chunk[:, 1] = _logarithms(chunk[:, 1])
                chunk[:, 2] = _logarithms(chunk[:, 2])
            else:
                written = np.empty((len(chunk), 3), dtype=np.uint32)
                written[:, 0] = chunk[:, 0]
                written[:, 1] = _logarithms(chunk[:, 1])
                written[:, 2] = chunk[:, 3]
                chunk = written
            self._tensors.write(chunk)
        self._tensors.end()
        if n == max(self._order - 1, 1):
            sentinel = np.array([[0, 0, 0, 0xFFFFFFFF, end]], dtype=np.uint32)
            self._tensors.append("sentinel", sentinel)


def _logarithms(bits: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the natural logarithms of float32 numbers in (0, 1], given and returned as bits."""
    values = bits.copy().view(np.float32)
    with np.errstate(divide="ignore"):
        np.log(values, out=values)
    return np.minimum(values, np.float32(0.0), out=values).view(np.uint32)


def describe_model(
    writer: ArtifactWriter,
    *,
    config: NgramConfig,
    counts: Sequence[int],
    discounts: Sequence[Discounts],
    tokenizer: StoredTokenizer,
    data: Sequence[Mapping[str, Any]],
    settings: Mapping[str, Any],
) -> None:
    """Write the card of an estimated model."""
    facts = {
        "order": config.order,
        "counts": list(counts),
        "mode": config.mode,
        "smoothing": "modified Kneser-Ney, interpolated",
        "prune": [config.threshold(n) for n in range(1, config.order + 1)],
        "interpolate_unigrams": config.interpolate_unigrams,
        "discounts": [asdict(discount) for discount in discounts],
    }
    writer.describe(
        family="ngram",
        config=facts,
        tokenizer={"spec": tokenizer.spec(), "fingerprint": tokenizer.fingerprint()},
        data=data,
        settings=settings,
    )


def add_tokenizer(
    writer: ArtifactWriter, records: RecordWriter, tokenizer: StoredTokenizer
) -> None:
    """Write the tokenizer's arrays and files."""
    for name, array in tokenizer.arrays().items():
        records.append(name, array)
    for name, content in tokenizer.files().items():
        with writer.add_file(name) as file:
            file.write(content)
