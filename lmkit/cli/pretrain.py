"""lmkit pretrain: neural language models trained on text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Errors,
    Files,
    Force,
    Out,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import choose_sources, default_name

if TYPE_CHECKING:
    from lmkit.tasks.pretrain import Pretrained
    from lmkit.tasks.pretrain_config import PretrainConfig


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


def pretrain_command(
    files: Files = None,
    arch: Arch = "gpt",
    size: Size = "tiny",
    settings: Set = None,
    out: Out = None,
    unit: Unit = "char",
    mode: Mode = None,
    vocab_size: VocabSize = None,
    min_count: MinCount = 1,
    lower: Lower = False,
    normalize: Normalize = "none",
    errors: Errors = "strict",
    valid: Valid = None,
    valid_fraction: ValidFraction = 0.1,
    context: Context = None,
    batch: Batch = None,
    micro_batch: MicroBatch = None,
    steps: Steps = None,
    epochs: Epochs = None,
    minutes: Minutes = None,
    optimizer: Optimizer = None,
    learning_rate: LearningRate = None,
    matrix_rate: MatrixRate = None,
    ema: Ema = 0.0,
    eval_every: EvalEvery = None,
    save_every: SaveEvery = None,
    keep: Keep = 2,
    patience: Patience = None,
    resume: Resume = False,
    seed: Seed = DEFAULT_SEED,
    threads: Threads = None,
    device: Device = "auto",
    precision: Precision = "auto",
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Train a neural language model on text: Bengio's, a recurrent one or a GPT.

    The model predicts text with lmkit score, sample and eval like any other. A run that is
    stopped keeps its last checkpoint; the same command with --resume goes on from there and ends
    with the same model, bit for bit.
    """
    options = dict(locals())
    from lmkit.engine.signals import Stopped
    from lmkit.store.home import mark_last, resolve_out
    from lmkit.tasks.pretrain import pretrain

    sources = choose_sources(files)
    path = resolve_out(out, default_name(arch, sources), force)
    with listening(quiet, progress) as listener:
        try:
            wanted = _wanted(options)
            trained = pretrain(sources, path, wanted, force=force, resume=resume, listener=listener)
        except Stopped as stopped:
            listener.finish()
            listener.warn(_how_to_go_on(stopped.step, resume))
            raise typer.Exit(128 + stopped.number) from None
        mark_last(arch, trained.path, listener)
        listener.note(_summary(trained))


def _wanted(options: dict[str, Any]) -> PretrainConfig:
    """Return the settings that the options of the command stand for."""
    from dataclasses import fields

    from lmkit.tasks.pretrain_config import PretrainConfig
    from lmkit.tasks.pretrain_settings import parse_settings
    from lmkit.text.encoding import Normalizer

    given = {
        each.name: options[each.name] for each in fields(PretrainConfig) if each.name in options
    }
    given["settings"] = parse_settings(options["settings"] or ())
    given["valid"] = tuple(map(str, options["valid"] or ()))
    normalizer = Normalizer(lower=options["lower"], form=options["normalize"])
    return PretrainConfig(**given, normalizer=normalizer)


def _summary(trained: Pretrained) -> str:
    import math

    return (
        f"{trained.path}: {trained.parameters:,} parameters, {trained.steps:,} steps in "
        f"{trained.seconds:.1f} s; held out {trained.valid_tokens:,} tokens: loss "
        f"{trained.valid_loss:.4f} nats, perplexity {math.exp(trained.valid_loss):.2f}"
    )


def _how_to_go_on(step: int, resumed: bool) -> str:
    """Return the command that goes on behind ``step``: this one with --resume."""
    import shlex
    import sys

    words = ["lmkit", *sys.argv[1:], *([] if resumed else ["--resume"])]
    return f"stopped behind step {step:,}; go on with: {shlex.join(words)}"


def register(app: typer.Typer) -> None:
    """Add the command ``pretrain`` to ``app``."""
    examples = [
        "lmkit pretrain $(lmkit corpora path prose.train) --steps 50 -o tiny-gpt",
        "lmkit pretrain $(lmkit corpora path prose.train) --arch lstm --unit word --steps 50",
    ]
    command(app, "pretrain", examples=examples, panel=panels.NEURAL)(pretrain_command)
