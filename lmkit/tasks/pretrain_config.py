"""Settings of ``lmkit pretrain``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lmkit.errors import UserError
from lmkit.language_model import BOS, EOS, Errors, Mode
from lmkit.tasks.pretrain_presets import Optimizer, Preset, preset
from lmkit.text.encoding import Normalizer

_OWN = ("context", "batch", "optimizer", "learning_rate", "matrix_rate", "steps")


@dataclass(frozen=True, kw_only=True, slots=True)
class PretrainConfig:
    """What to train and how; None stands for what the size of the model says."""

    arch: str = "gpt"
    """nplm, rnn, gru, lstm or gpt."""
    size: str = "tiny"
    """The shape and the recipe."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the architecture's settings that differ from those of the size."""
    unit: str = "char"
    """char, byte, word, unigram, bpe, or FILE.model."""
    mode: Mode | None = None
    """None: sentence for words, document for all other units."""
    vocab_size: int | None = None
    """Tokens kept (pieces to train); None: all (8000)."""
    min_count: int = 1
    """Tokens seen fewer times become <unk>."""
    normalizer: Normalizer = field(default_factory=Normalizer)
    """What is done to text first."""
    errors: Errors = "strict"
    """What to do with bytes that are not UTF-8: stop, or replace them."""
    valid: tuple[str, ...] = ()
    """Texts to validate on; without them the end of the training text is held out."""
    valid_fraction: float = 0.1
    """How much of it."""
    context: int | None = None
    """Tokens of a training window."""
    batch: int | None = None
    """Windows of a step."""
    micro_batch: int | None = None
    """Windows in memory at a time; None: all of a step."""
    steps: int | None = None
    """Steps to take."""
    epochs: float | None = None
    """Or: how often to read the text."""
    minutes: float | None = None
    """Or: how long to train."""
    optimizer: Optimizer | None = None
    """muon, adamw, sgd or asgd."""
    learning_rate: float | None = None
    """Highest rate."""
    matrix_rate: float | None = None
    """Highest rate of the matrices that Muon trains."""
    ema: float = 0.0
    """How little a running average of the weights forgets a step; 0: there is none."""
    eval_every: int | None = None
    """Steps between validations; None: eight in a run."""
    save_every: int | None = None
    """Steps between checkpoints; None: at each validation."""
    keep: int = 2
    """Checkpoints kept beside the best."""
    patience: int | None = None
    """Stop after so many validations without a better one."""
    seed: int = 1
    """Of weights, order and dropout."""
    threads: int | None = None
    """None: all free cores."""
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    """Where to compute."""
    precision: Literal["auto", "fp32", "bf16"] = "auto"
    """Of the products; auto: bf16 on CUDA."""

    def recipe(self) -> Preset:
        """Return the preset of the size with the settings that were given in place of its own.

        Raises:
            UserError: there is no such architecture or size, or the settings contradict.
        """
        given = [name for name in ("steps", "epochs", "minutes") if getattr(self, name) is not None]
        if len(given) > 1:
            raise UserError(f"--{given[0]} and --{given[1]} exclude each other", "Give one of them")
        for name in given:
            if not getattr(self, name) > 0:
                raise UserError(f"--{name} {getattr(self, name)} is not above 0")
        if not self.valid and not 0.0 < self.valid_fraction < 1.0:
            raise UserError(f"--valid-fraction {self.valid_fraction} is not above 0 and below 1")
        recipe = preset(self.arch, self.size)
        own = {name: getattr(self, name) for name in _OWN if getattr(self, name) is not None}
        return replace(recipe, settings={**recipe.settings, **self.settings}, **own)

    @property
    def reading(self) -> Mode:
        """How the text is read."""
        return self.mode or ("sentence" if self.unit == "word" else "document")

    @property
    def never(self) -> tuple[int, ...]:
        """Tokens that are never predicted."""
        return (BOS,) if self.reading == "sentence" else (BOS, EOS)

    def record(self) -> dict[str, Any]:
        """Return what config.toml repeats, by the names of the command's options."""
        plain = {
            name: getattr(self, name)
            for name in (
                "arch", "size", "vocab_size", "min_count", "errors", "valid_fraction", "context",
                "batch", "micro_batch", "steps", "epochs", "minutes", "optimizer",
                "learning_rate", "matrix_rate", "ema", "eval_every", "save_every", "keep",
                "patience", "seed", "precision",
            )
        }  # fmt: skip
        settings = [f"{key}={_text(value)}" for key, value in self.settings.items()]
        return {
            **{name: value for name, value in plain.items() if value is not None},
            **({"set": settings} if settings else {}),
            "unit": "tokenizer.model" if self.unit.endswith(".model") else self.unit,
            "mode": self.reading,
            "lower": self.normalizer.lower,
            "normalize": self.normalizer.form,
        }


def _text(value: Any) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value)
