"""Options of lmkit pretrain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from lmkit.cli import panels


def _option(
    panel: str, name: str, metavar: str, help: str, default: str | bool, **more: Any
) -> Any:
    """Return an option that is listed in ``panel``; ``default`` is what the help shows."""
    return typer.Option(
        name, metavar=metavar, help=help, show_default=default, rich_help_panel=panel, **more
    )


BY_SIZE = "as --size says"
Arch = Annotated[
    Literal["gpt", "lstm", "gru", "rnn", "nplm"],
    _option(
        panels.MODEL,
        "--arch",
        "ARCH",
        "gpt (a Transformer), lstm, gru, rnn (Elman's) or nplm (Bengio's).",
        True,
    ),
]
Size = Annotated[
    Literal["tiny", "small", "base", "gpt2"],
    _option(
        panels.MODEL,
        "--size",
        "SIZE",
        "tiny, small, base or, for gpt, gpt2: the shape and the recipe.",
        True,
    ),
]
Set = Annotated[
    list[str] | None,
    _option(
        panels.MODEL,
        "--set",
        "KEY=VALUE",
        "A setting of the architecture, such as num_layers=2; once for each.",
        False,
    ),
]
Unit = Annotated[
    str,
    _option(
        panels.DATA,
        "--unit",
        "UNIT",
        "What is predicted: char, byte, word, unigram or bpe (sentencepiece, trained on the "
        "text), or the path of a sentencepiece FILE.model.",
        True,
    ),
]
Mode = Annotated[
    Literal["sentence", "document"] | None,
    _option(
        panels.DATA,
        "--mode",
        "MODE",
        "Each line is <s> line </s> (sentence), or the text is one stream (document).",
        "sentence for words, else document",
    ),
]
VocabSize = Annotated[
    int | None,
    _option(
        panels.DATA,
        "--vocab-size",
        "K",
        "Keep the K most frequent words (or characters; pieces to train).",
        "all; 8000 pieces",
        min=1,
    ),
]
MinCount = Annotated[
    int,
    _option(panels.DATA, "--min-count", "K", "Tokens seen fewer times become <unk>.", True, min=1),
]
Lower = Annotated[
    bool, typer.Option("--lower", help="Lower-case the text.", rich_help_panel=panels.DATA)
]
Normalize = Annotated[
    Literal["none", "nfc", "nfkc"],
    typer.Option(
        "--normalize", help="Unicode normalization of the text.", rich_help_panel=panels.DATA
    ),
]
Valid = Annotated[
    list[Path] | None,
    _option(
        panels.DATA,
        "--valid",
        "FILE",
        "Text to validate on; once for each file.",
        "the last tenth of the text",
    ),
]
ValidFraction = Annotated[
    float,
    _option(
        panels.DATA,
        "--valid-fraction",
        "P",
        "Part of the text, its end, that is held out where there is no --valid.",
        True,
        min=0.0,
        max=0.9,
    ),
]
Context = Annotated[
    int | None,
    _option(panels.TRAINING, "--context", "T", "Tokens of a training window.", BY_SIZE, min=1),
]
Batch = Annotated[
    int | None,
    _option(panels.TRAINING, "--batch", "B", "Windows of a step.", BY_SIZE, min=1),
]
MicroBatch = Annotated[
    int | None,
    _option(
        panels.TRAINING,
        "--micro-batch",
        "B",
        "Windows in memory at a time; gradients add up to the whole step.",
        "--batch",
        min=1,
    ),
]
Steps = Annotated[
    int | None, _option(panels.TRAINING, "--steps", "N", "Train N steps.", BY_SIZE, min=1)
]
Epochs = Annotated[
    float | None,
    _option(panels.TRAINING, "--epochs", "N", "Or: read the text N times.", False, min=0.0),
]
Minutes = Annotated[
    float | None,
    _option(
        panels.TRAINING, "--minutes", "N", "Or: as many steps as fit into N minutes.", False,
        min=0.0,
    ),
]  # fmt: skip
Optimizer = Annotated[
    Literal["muon", "adamw", "sgd", "asgd"] | None,
    _option(
        panels.TRAINING,
        "--optimizer",
        "NAME",
        "muon (with adamw for what is no hidden matrix), adamw, sgd or asgd.",
        BY_SIZE,
    ),
]
LearningRate = Annotated[
    float | None,
    _option(panels.TRAINING, "--learning-rate", "R", "Highest rate.", BY_SIZE, min=0.0),
]
MatrixRate = Annotated[
    float | None,
    _option(
        panels.TRAINING, "--matrix-rate", "R", "muon: highest rate of its matrices.", BY_SIZE,
        min=0.0,
    ),
]  # fmt: skip
Ema = Annotated[
    float,
    _option(
        panels.TRAINING,
        "--ema",
        "P",
        "Keep a running average of the weights that forgets by P a step, such as 0.999; 0: none.",
        True,
        min=0.0,
        max=0.9999999,
    ),
]
EvalEvery = Annotated[
    int | None,
    _option(
        panels.TRAINING, "--eval-every", "N", "Steps between validations.",
        "eight in a run", min=1,
    ),
]  # fmt: skip
SaveEvery = Annotated[
    int | None,
    _option(
        panels.TRAINING, "--save-every", "N", "Steps between checkpoints.",
        "at each validation", min=1,
    ),
]  # fmt: skip
Keep = Annotated[
    int,
    _option(
        panels.TRAINING, "--keep", "N", "Checkpoints kept, beside the best.", True, min=1
    ),
]  # fmt: skip
Patience = Annotated[
    int | None,
    _option(
        panels.TRAINING,
        "--patience",
        "N",
        "Stop after N validations without a better one.",
        "never",
        min=1,
    ),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume",
        help="Go on where a stopped run of the same command left off.",
        rich_help_panel=panels.TRAINING,
    ),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"],
    _option(panels.RUN, "--device", "DEVICE", "Where to compute: auto, cpu, cuda or mps.", True),
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16"],
    _option(
        panels.RUN,
        "--precision",
        "FORM",
        "fp32, bf16 (mixed), or auto: bf16 on cuda, else fp32.",
        True,
    ),
]
