"""``lmkit ngram stats``: what an n-gram model was made from, from its card alone."""

from __future__ import annotations

from typing import Any

from lmkit.events import SILENT, Listener
from lmkit.store.artifact import open_artifact
from lmkit.store.home import resolve_model


def stats_ngram(name: str | None, listener: Listener = SILENT) -> dict[str, Any]:
    """Return the facts of the n-gram model ``name``, ready for JSON.

    Raises:
        ModelError: there is no such model, or it is of another family.
    """
    path, how = resolve_model(name, ("ngram",))
    if name is None:
        listener.note(f"using {path} ({how})")
    artifact = open_artifact(path, families=("ngram",))
    config = artifact.config
    facts: dict[str, Any] = {
        key: config[key] for key in ("order", "mode", "smoothing", "prune") if key in config
    }
    facts["unit"] = artifact.tokenizer["spec"]["unit"]
    facts["ngrams"] = config["counts"]
    for n, discount in enumerate(config.get("discounts", ()), start=1):
        facts[f"discounts_{n}"] = discount["values"]
        if not discount["estimated"]:
            facts[f"discounts_{n}_fallback"] = discount["reason"]
    for text in artifact.card["data"]:
        facts["text"] = text["name"]
        facts["lines"] = text["lines"]
        facts["tokens"] = text["tokens"]
        facts["text_sha256"] = text["sha256"]
    facts["bytes"] = sum(file["size"] for file in artifact.card["files"].values())
    return facts
