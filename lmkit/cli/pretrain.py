"""lmkit pretrain: neural language models trained on text."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

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
from lmkit.cli.pretrain_options import (
    Arch,
    Batch,
    Context,
    Device,
    Ema,
    Epochs,
    EvalEvery,
    Keep,
    LearningRate,
    Lower,
    MatrixRate,
    MicroBatch,
    MinCount,
    Minutes,
    Mode,
    Normalize,
    Optimizer,
    Patience,
    Precision,
    Resume,
    SaveEvery,
    Set,
    Size,
    Steps,
    Unit,
    Valid,
    ValidFraction,
    VocabSize,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import choose_sources, default_name

if TYPE_CHECKING:
    from lmkit.tasks.pretrain import Pretrained
    from lmkit.tasks.pretrain_config import PretrainConfig


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
    _run(dict(locals()))


def _run(options: dict[str, Any]) -> None:
    from lmkit.engine.signals import Stopped
    from lmkit.store.home import mark_last, resolve_out
    from lmkit.tasks.pretrain import pretrain

    sources, force, resume = choose_sources(options["files"]), options["force"], options["resume"]
    path = resolve_out(options["out"], default_name(options["arch"], sources), force)
    first = os.environ.get("RANK", "0") == "0"  # of the processes that torchrun started
    with listening(options["quiet"], options["progress"]) as listener:
        try:
            wanted = _wanted(options)
            trained = pretrain(sources, path, wanted, force=force, resume=resume, listener=listener)
        except Stopped as stopped:
            listener.finish()
            if first:
                listener.warn(_how_to_go_on(stopped.step, resume))
            raise typer.Exit(128 + stopped.number) from None
        if first:
            mark_last(options["arch"], trained.path, listener)
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
