"""Word vectors as a model on disk.

Tensors of weights.safetensors: ``vectors`` [V, D] float32 or float16, ``norms`` [V] float32,
the word table ``table``/``arena``/``offsets`` (row i is word i), ``word_counts`` [V] where known;
models with subwords also ``buckets`` [U, D] and ``bucket_ids`` [U]. What only training needs
(``outputs``, ``inputs``) is stored with them, so that training can go on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.subwords import Subwords
from lmkit.embed.vectors import Floats, Vectors, Words, row_norms
from lmkit.errors import ModelError, UserError
from lmkit.store.arrays import TensorFileWriter
from lmkit.store.artifact import Artifact, ArtifactWriter
from lmkit.text.encoding import Normalizer
from lmkit.text.vocab import WordTable

FAMILY = "embed"
_BLOCK = 1 << 14
"""Rows written at a time."""
_LARGEST_HALF = 65504.0


def open_vectors(artifact: Artifact, *, once: bool = False) -> Vectors:
    """Return the vectors of a model; the matrix is mapped, unless it is kept as float16.

    Args:
        artifact: the model.
        once: the table is only read, and once or so: rows that were read give their memory back,
            and a float16 matrix stays one.

    Raises:
        ModelError: an array is missing or does not fit the others.
    """
    arrays, config = artifact.arrays, artifact.config
    matrix, norms = artifact.array("vectors"), artifact.array("norms")
    words = WordTable(*(artifact.array(name) for name in ("table", "arena", "offsets")))
    if matrix.ndim != 2 or len(matrix) != len(words) or norms.shape != (len(words),):
        raise ModelError(f"{artifact.path} is damaged: its arrays do not fit each other")
    subwords = None
    if (setting := config.get("subword")) is not None:
        rows, buckets = artifact.array("buckets"), artifact.array("bucket_ids")
        subwords = Subwords(setting[0], setting[1], config["buckets"], rows, buckets)
    return Vectors(
        words,
        matrix if once else matrix.astype(np.float32, copy=False),
        norms,
        arrays.get("word_counts"),
        Normalizer.from_spec(artifact.tokenizer.get("spec", {})),
        subwords,
        arrays.forget if once else None,
    )


def save_vectors(
    writer: ArtifactWriter,
    vectors: Vectors,
    *,
    config: Mapping[str, Any],
    settings: Mapping[str, Any] | None = None,
    data: Sequence[Mapping[str, Any]] = (),
    extra: Mapping[str, NDArray[Any]] | None = None,
    dtype: str = "float32",
    seed: int | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> None:
    """Write ``vectors`` as the model of ``writer``.

    Args:
        writer: an entered writer.
        vectors: the words and their rows.
        config: how they were made (``arch``, ``loss``, ``window``, ...), kept in the card.
        settings: what config.toml repeats.
        data: what the card says about the text.
        extra: further arrays by name: ``outputs``, ``inputs``.
        dtype: ``"float32"``, or ``"float16"``, which takes half the space on disk.
        seed: of the random numbers.
        metrics: figures worth keeping.

    Raises:
        UserError: a number is too large for float16.
    """
    table = word_table(vectors.words)
    facts = {**config, "size": vectors.size, "words": len(vectors), "dtype": dtype}
    arrays: dict[str, NDArray[Any]] = {
        "norms": vectors.norms if dtype == "float32" else _half_norms(vectors.matrix),
        "table": table.table,
        "arena": table.arena,
        "offsets": table.offsets,
    }
    if vectors.counts is not None:
        arrays["word_counts"] = vectors.counts
    if vectors.subwords is not None:
        sub = vectors.subwords
        facts |= {"subword": [sub.minimum, sub.maximum], "buckets": sub.num_buckets}
        ids = np.arange(len(sub.rows), dtype=np.int32) if sub.buckets is None else sub.buckets
        arrays |= {"buckets": sub.rows, "bucket_ids": ids}
    with writer.add_tensors() as tensors:
        _write_rows(tensors, vectors.matrix, dtype)
        for name, array in (arrays | dict(extra or {})).items():
            tensors.append(name, array)
    with writer.add_file("vocab.tsv") as file:
        file.write(_listed(vectors.words.words(), vectors.counts))
    spec = {"unit": "word", **vectors.normalizer.spec()}
    writer.describe(
        family=FAMILY,
        config=facts,
        tokenizer={"spec": spec, "fingerprint": _fingerprint(table, spec)},
        data=data,
        seed=seed,
        settings=settings,
        metrics=metrics,
    )


def _write_rows(tensors: TensorFileWriter, matrix: Floats, dtype: str) -> None:
    """Write ``matrix`` as the tensor ``vectors``, without another copy of it."""
    tensors.start("vectors", dtype, matrix.shape[1:])
    for begin in range(0, len(matrix), _BLOCK):
        tensors.write(np.ascontiguousarray(matrix[begin : begin + _BLOCK], dtype=dtype))
    tensors.end()


def _half_norms(matrix: Floats) -> Floats:
    """Return the lengths [V] of the rows as float16 keeps them."""
    norms = np.empty(len(matrix), dtype=np.float32)
    for begin in range(0, len(matrix), _BLOCK):
        rows = matrix[begin : begin + _BLOCK]
        largest = float(np.abs(rows).max(initial=0.0))
        if largest > _LARGEST_HALF:
            raise UserError(
                f"{largest:g} is too large for float16, which ends at {_LARGEST_HALF:g}",
                "Leave out --dtype float16",
            )
        norms[begin : begin + _BLOCK] = row_norms(rows.astype(np.float16).astype(np.float32))
    return norms


def word_table(words: Words) -> WordTable:
    """Return ``words`` as a table that can be stored."""
    return words if isinstance(words, WordTable) else WordTable.of(words.words())


def _listed(words: Sequence[bytes], counts: NDArray[np.int64] | None) -> bytes:
    words = [word.replace(b"\n", b"\\n") for word in words]
    if counts is None:
        return b"".join(word + b"\n" for word in words)
    return b"".join(map(b"%b\t%d\n".__mod__, zip(words, counts.tolist(), strict=True)))


def _fingerprint(table: WordTable, spec: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(repr(sorted(spec.items())).encode())
    digest.update(np.ascontiguousarray(table.offsets).tobytes())
    digest.update(table.arena[: table.offsets[-1]].tobytes())
    return digest.hexdigest()
