"""The settings of ``lmkit embed fit`` by the names of its options, for commands and programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from lmkit.embed.count.config import DEFAULT_MEMORY, CountConfig
from lmkit.embed.predict.config import LOSSES, MEANS, PredictConfig
from lmkit.errors import ModelError, UserError
from lmkit.language_model import Errors
from lmkit.store.artifact import open_artifact
from lmkit.store.home import resolve_model
from lmkit.tasks.fit_embed import FitEmbedConfig
from lmkit.tasks.threads import num_threads
from lmkit.text.encoding import Form, Normalizer
from lmkit.text.vocab import VocabularyConfig

PREDICTED = tuple(LOSSES)
COUNTED = ("glove", "ppmi", "hellinger", "eigenwords")

_WHERE: dict[str, tuple[str, ...]] = {
    "loss": PREDICTED,
    "negative": ("skipgram", "cbow"),
    "noise_power": PREDICTED,
    "hidden": ("collobert",),
    "subsample": ("skipgram", "cbow"),
    "subsample_formula": ("skipgram", "cbow"),
    "subword": ("skipgram", "cbow"),
    "buckets": ("skipgram", "cbow"),
    "epochs": (*PREDICTED, "glove"),
    "learning_rate": (*PREDICTED, "glove"),
    "x_max": ("glove",),
    "alpha": ("glove",),
    "shift": ("ppmi",),
    "context_smoothing": ("ppmi",),
    "power": ("ppmi", "hellinger", "eigenwords"),
    "contexts": ("ppmi", "hellinger", "eigenwords"),
    "count_power": ("eigenwords",),
    "memory": COUNTED,
}
"""The architectures for which a setting means something; those not listed do for all."""
_CHOICES = {"errors": ("strict", "replace"), "dtype": ("float32", "float16")}
_TEXT = ("min_count", "vocab_size", "lower", "normalize", "errors", "dtype", "threads", "memory")


class EmbedSettings(TypedDict, total=False):
    """What may be set; ``lmkit embed fit --help`` says what each means and its default.

    None is the default of the architecture, or of the older model.
    """

    arch: str | None
    loss: str | None
    size: int | None
    window: int | None
    negative: int | None
    noise_power: float | None
    hidden: int | None
    epochs: int | None
    learning_rate: float | None
    subsample: float | None
    subsample_formula: str | None
    subword: str | None
    """Such as ``"3-6"``."""
    buckets: int | None
    x_max: float | None
    alpha: float | None
    shift: float | None
    context_smoothing: float | None
    power: float | None
    contexts: int | None
    count_power: float | None
    min_count: int | None
    vocab_size: int | None
    lower: bool | None
    normalize: Form | None
    errors: Errors
    dtype: Literal["float32", "float16"]
    memory: int | None
    """Bytes."""
    seed: int
    threads: int | None
    """None for all cores."""


def fit_config(older: str | None = None, **settings: Unpack[EmbedSettings]) -> FitEmbedConfig:
    """Return the configuration of a fit; what is not given has the default of the command.

    Args:
        older: a model (path or name) whose settings are the defaults.
        **settings: see :class:`EmbedSettings`.

    Raises:
        TypeError: there is no setting of a given name; the message lists those there are.
        UserError: a value will not do, or means nothing for the architecture.
    """
    names = EmbedSettings.__annotations__
    if strange := sorted(set(settings) - set(names)):
        listed = ", ".join(map(repr, strange))
        raise TypeError(f"no setting {listed} of word vectors; there are {', '.join(names)}")
    given: dict[str, Any] = {key: value for key, value in settings.items() if value is not None}
    for name, choices in _CHOICES.items():
        value = given.get(name, choices[0])
        if value not in choices:
            raise UserError(f"--{name} {value!r} is not {' or '.join(choices)}")
    if older is not None:
        given = _older_settings(older, given) | given
    usual = "collobert" if given.get("loss") == "rank" else "skipgram"
    arch = given.setdefault("arch", usual)
    if arch not in (*PREDICTED, *COUNTED):
        raise UserError(f"unknown --arch {arch}", f"Known: {', '.join((*PREDICTED, *COUNTED))}")
    for name, archs in _WHERE.items():
        if name in given and arch not in archs:
            raise UserError(f"--{name.replace('_', '-')} means nothing for --arch {arch}")
    if arch in LOSSES:
        loss = given.setdefault("loss", LOSSES[arch][0])
        for name, losses in MEANS.items():
            if name in given and loss not in losses:
                raise UserError(f"--{name.replace('_', '-')} means nothing for --loss {loss}")
    if "buckets" in given and "subword" not in given:
        raise UserError("--buckets means nothing without --subword")
    kind = PredictConfig if arch in PREDICTED else CountConfig
    asked = {field.name: given[field.name] for field in fields(kind) if field.name in given}
    if "subword" in asked:
        asked["subword"] = _sizes(asked["subword"])
    model = kind(**asked)
    config = FitEmbedConfig(
        model=model,
        vocabulary=VocabularyConfig(
            min_count=given.get("min_count", 5), max_size=given.get("vocab_size")
        ),
        normalizer=Normalizer(lower=given.get("lower", False), form=given.get("normalize", "none")),
        errors=given.get("errors", "strict"),
        dtype=given.get("dtype", "float32"),
        threads=num_threads(given.get("threads")),
        memory=given.get("memory", DEFAULT_MEMORY),
        settings=_repeatable(given, model),
    )
    return config


def _repeatable(given: Mapping[str, Any], model: PredictConfig | CountConfig) -> dict[str, Any]:
    """Return the settings that config.toml repeats: what was given and the defaults that matter."""
    arch = model.arch
    if isinstance(model, PredictConfig):
        resolved = model.meaningful() | {"subword": given.get("subword")}
    else:
        resolved = {field.name: getattr(model, field.name) for field in fields(model)}
    kept = {
        name: value
        for name, value in resolved.items()
        if value is not None and arch in _WHERE.get(name, (arch,))
    }
    return kept | {name: given[name] for name in _TEXT if name in given and name != "threads"}


def _sizes(text: str) -> tuple[int, int]:
    """Return the range that ``3-6`` or ``4`` means."""
    sizes = re.fullmatch(r"(\d+)(?:-(\d+))?", str(text))
    if sizes is None:
        raise UserError(f"--subword {text} is no range of sizes", "Try 3-6")
    return int(sizes[1]), int(sizes[2] or sizes[1])


def _older_settings(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the model that training goes on from, those that suit the given ones.

    Raises:
        ModelError: it cannot be trained on.
        UserError: a setting that is given does not go with an older model.
    """
    if given.get("arch") in COUNTED:
        raise UserError(
            f"--continue means nothing for --arch {given['arch']}", "Fit to all of the text"
        )
    if "vocab_size" in given:
        raise UserError(
            "--vocab-size means nothing with --continue, which keeps the words of the older model",
            "--min-count says which new words are added",
        )
    loss = given.get("loss")
    if Path(name).is_file():
        raise ModelError(
            f"{name} is a file of vectors, which lacks what training needs",
            "Fit to all of the text",
        )
    artifact = open_artifact(resolve_model(name)[0], families=("embed",))
    card = artifact.config
    if card.get("arch") not in PREDICTED:
        how = "was made by counting" if card.get("arch") in COUNTED else "has vectors only"
        raise ModelError(
            f"{artifact.path} {how}, so it cannot be trained on", "Fit to all of the text"
        )
    kept = ("arch", "loss", "size", "window", "min_count", *MEANS)
    found = {key: card[key] for key in kept if key in card}
    if loss is not None:  # another one is refused later, for what it is
        found = {key: found[key] for key in found if loss in MEANS.get(key, (loss,))}
    if card.get("subword") is not None:
        found |= {"subword": "-".join(map(str, card["subword"])), "buckets": card["buckets"]}
    spec = artifact.tokenizer["spec"]
    return found | {"lower": spec["lower"], "normalize": spec["form"]}
