"""lmkit ngram: count-based language models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmkit.cli import mix, panels, sample, score
from lmkit.cli.command import Command, command, epilog, group
from lmkit.cli.completion import complete_model
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Device,
    Errors,
    Files,
    Force,
    Json,
    ModelName,
    Out,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Threads,
    Verbose,
    parse_size,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import choose_sources, default_name, json_line, open_output

if TYPE_CHECKING:
    from lmkit.tasks.fit_ngram import FittedNgram

app = group(
    "ngram", "Count-based language models: fit, score, sample, mix, convert.", panels.COUNTING
)


class ManyValues(Command):
    """A command whose option --prune takes several numbers: ``--prune 0 0 1``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read ``--prune 0 0 1`` as ``--prune 0 --prune 0 --prune 1``."""
        spread: list[str] = []
        inside = False
        for place, arg in enumerate(args):
            if arg == "--":
                spread += args[place:]
                break
            if arg == "--prune" or arg.startswith("--prune="):
                inside = True
                spread.append(arg)
            elif inside and args[place - 1] != "--prune" and arg.isdecimal():
                spread += ["--prune", arg]
            else:
                inside = inside and args[place - 1] == "--prune"
                spread.append(arg)
        return super().parse_args(ctx, spread)


MAX_ORDER = 200
"""That of ``lmkit.ngram.config``, which is not loaded to parse a command line."""

Order = Annotated[
    int,
    typer.Option(
        metavar="N",
        min=1,
        max=MAX_ORDER,
        help="Words of an n-gram, the predicted one counted.",
        rich_help_panel=panels.MODEL,
    ),
]
Prune = Annotated[
    list[int] | None,
    typer.Option(
        "--prune",
        metavar="K...",
        help="Drop n-grams seen at most K times, one K an order (0 0 1); the last holds on.",
        show_default="0",
        rich_help_panel=panels.MODEL,
    ),
]
Mode = Annotated[
    Literal["sentence", "document"],
    typer.Option(
        "--mode",
        help="Each line is <s> line </s>, or the text is one stream without marks.",
        rich_help_panel=panels.DATA,
    ),
]
Unit = Annotated[
    str,
    typer.Option(
        "--unit",
        metavar="UNIT",
        help="What is counted: word, char, byte, unigram or bpe (sentencepiece, trained on the "
        "text), or the path of a sentencepiece FILE.model.",
        rich_help_panel=panels.DATA,
    ),
]
Vocab = Annotated[
    Path | None,
    typer.Option(
        "--vocab",
        metavar="FILE",
        help="Words that keep their identity; all others become <unk>.",
        show_default=False,
        rich_help_panel=panels.DATA,
    ),
]
VocabSize = Annotated[
    int | None,
    typer.Option(
        "--vocab-size",
        metavar="K",
        min=1,
        help="Keep the K most frequent words (or characters; pieces to train).",
        show_default="all",
        rich_help_panel=panels.DATA,
    ),
]
MinCount = Annotated[
    int,
    typer.Option(
        "--min-count",
        metavar="K",
        min=1,
        help="Words seen fewer times become <unk>.",
        rich_help_panel=panels.DATA,
    ),
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
Fallback = Annotated[
    tuple[float, float, float],
    typer.Option(
        "--discount-fallback",
        metavar="D1 D2 D3",
        help="Discounts for an order where they cannot be estimated.",
        rich_help_panel=panels.MODEL,
    ),
]
Unknown = Annotated[
    Literal["share", "all"],
    typer.Option(
        "--unknown",
        help="What <unk> gets of the mass that discounting sets free among the words: the share "
        "of one word, or all of it (lmplz --interpolate_unigrams 0).",
        rich_help_panel=panels.MODEL,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Refuse work that would need more memory, such as 2G or 500M.",
        show_default="no limit",
        rich_help_panel=panels.RUN,
    ),
]
ModelOrArpa = Annotated[
    str,
    typer.Argument(
        metavar="IN",
        help="A model (path or name), or a file .arpa, .arpa.gz, .arpa.xz, .arpa.bz2.",
        autocompletion=complete_model,
    ),
]
Target = Annotated[
    str,
    typer.Argument(metavar="OUT", help="A file .arpa or .arpa.gz, or the model to be."),
]


@app.command(
    "fit",
    cls=ManyValues,
    epilog=epilog(
        [
            "lmkit ngram fit $(lmkit corpora path prose.train) --order 3 -o prose3",
            "printf 'a b a\\nb a b\\n' | lmkit ngram fit --order 2 -o ./tiny",
        ]
    ),
)
def fit_command(
    files: Files = None,
    order: Order = 5,
    out: Out = None,
    prune: Prune = None,
    min_count: MinCount = 1,
    vocab: Vocab = None,
    vocab_size: VocabSize = None,
    unit: Unit = "word",
    mode: Mode = "sentence",
    lower: Lower = False,
    normalize: Normalize = "none",
    errors: Errors = "strict",
    discount_fallback: Fallback = (0.5, 1.0, 1.5),
    unknown: Unknown = "share",
    memory: Memory = None,
    seed: Seed = DEFAULT_SEED,
    threads: Threads = None,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Fit a modified Kneser-Ney model of any order to text; to an ARPA file if OUT is one."""
    from lmkit.ngram.config import is_arpa
    from lmkit.store.home import mark_last, resolve_out
    from lmkit.tasks.fit_ngram import fit_arpa, fit_ngram
    from lmkit.tasks.ngram_settings import fit_config

    settings = fit_config(
        order=order,
        prune=prune or (0,),
        mode=mode,
        discount_fallback=discount_fallback,
        unknown=unknown,
        min_count=min_count,
        vocab=vocab,
        vocab_size=vocab_size,
        lower=lower,
        normalize=normalize,
        unit=unit,
        errors=errors,
        seed=seed,
        threads=threads,
        memory=None if memory is None else parse_size(memory),
    )
    sources = choose_sources(files)
    path = resolve_out(out, default_name("ngram", sources), force)
    with listening(quiet, progress) as listener:
        if is_arpa(path.name):
            fitted = fit_arpa(sources, path, settings, force=force, listener=listener)
        else:
            fitted = fit_ngram(sources, path, settings, force=force, listener=listener)
            mark_last("ngram", fitted.path, listener)
        listener.note(_summary(fitted))


def _summary(fitted: FittedNgram) -> str:
    counts = " ".join(f"{count:,}" for count in fitted.counts)
    text = f"{fitted.num_tokens:,} tokens in {fitted.num_lines:,} lines"
    return f"{fitted.path}: order {len(fitted.counts)}, {text}, n-grams by order: {counts}"


score.register(app, prefix="lmkit ngram")
sample.register(app, prefix="lmkit ngram")
mix.register(app)


@command(
    app,
    "convert",
    examples=[
        "lmkit ngram convert prose3 ./prose3.arpa.gz",
        "lmkit ngram convert ./prose3.arpa.gz prose3-again",
    ],
)
def convert_command(
    source: ModelOrArpa,
    target: Target,
    threads: Threads = None,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
) -> None:
    """Turn a model into an ARPA file or an ARPA file into a model, by the suffix."""
    from lmkit.store.home import mark_last
    from lmkit.tasks.convert_ngram import convert_ngram
    from lmkit.tasks.threads import num_threads

    with listening(quiet, progress) as listener:
        path = convert_ngram(
            source, target, threads=num_threads(threads), force=force, listener=listener
        )
        if path.is_dir():
            mark_last("ngram", path, listener)
        listener.note(f"wrote {path}")


@command(
    app,
    "stats",
    examples=["lmkit ngram stats prose3", "lmkit ngram stats prose3 --json"],
)
def stats_command(
    model: ModelName = None,
    json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
) -> None:
    """Show what a model was made from: n-grams and discounts by order, the text, the settings."""
    from lmkit.tasks.stats_ngram import stats_ngram

    with listening(quiet, "none") as listener, open_output() as out:
        facts = stats_ngram(model, listener=listener)
        if json:
            out.write(json_line(facts))
        else:
            for key, value in facts.items():
                out.write(f"{key}\t{_plain(value)}")


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_plain(item) for item in value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
