"""Saves a model that was read from an ARPA file as a model directory."""

from __future__ import annotations

from pathlib import Path

from lmkit.events import SILENT, Listener
from lmkit.ngram.arpa.reader import ArpaModel
from lmkit.store.artifact import ArtifactWriter


def save_arpa(
    model: ArpaModel, path: str | Path, *, force: bool = False, listener: Listener = SILENT
) -> None:
    """Write ``model`` as the directory ``path``; see ``lmkit.ngram.save`` for the layout.

    Raises:
        ModelError: something is in the way, or the disk is full or not writable.
    """
    listener.phase("saving", sum(model.counts), "n-grams")
    with ArtifactWriter(path, force) as writer:
        with writer.add_tensors() as tensors:
            base = 0
            for n, count in enumerate(model.counts, 1):
                if n < model.order or n == 1:
                    tensors.append(f"order{n}", model.inner[base : base + count])
                if n == max(model.order - 1, 1):
                    tensors.append("sentinel", model.inner[base + count :])
                if n == model.order > 1:
                    tensors.append(f"order{n}", model.top)
                base += count
                listener.advance(count)
            tensors.append("wide", model.wide)
            for name, array in model.tokenizer.arrays().items():
                tensors.append(name, array)
        writer.describe(
            family="ngram",
            config={
                "order": model.order,
                "counts": model.counts,
                "mode": model.mode,
                "smoothing": "as in the ARPA file",
            },
            tokenizer={
                "spec": model.tokenizer.spec(),
                "fingerprint": model.tokenizer.fingerprint(),
            },
        )
    listener.finish()
