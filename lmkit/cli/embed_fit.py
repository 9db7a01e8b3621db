"""lmkit embed fit: word vectors from text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.completion import complete_model
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Device,
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
    parse_size,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import choose_sources, default_name
from lmkit.errors import UserError

if TYPE_CHECKING:
    from lmkit.tasks.fit_embed import FittedEmbed


def _option(
    name: str, panel: str, metavar: str, help: str, default: str, min: float | None = None
) -> Any:
    """Declare an option whose default depends on the architecture and is told by ``default``."""
    return typer.Option(
        name, metavar=metavar, help=help, show_default=default, rich_help_panel=panel, min=min
    )


Arch = Annotated[
    Literal["skipgram", "cbow", "collobert", "glove", "ppmi", "hellinger", "eigenwords"] | None,
    typer.Option(
        "--arch",
        metavar="ARCH",
        help="Predict: skipgram, cbow (Mikolov et al. 2013), collobert (a network ranks windows, "
        "Collobert & Weston 2008). Count: glove (Pennington et al. 2014), ppmi (PPMI and SVD, "
        "Levy & Goldberg 2014), hellinger (Hellinger PCA, Lebret & Collobert 2014), eigenwords "
        "(CCA, Dhillon et al. 2015).",
        show_default="skipgram",
        rich_help_panel=panels.MODEL,
    ),
]
LossOption = Annotated[
    Literal["negative", "hierarchical", "softmax", "nce", "rank"] | None,
    typer.Option(
        "--loss",
        metavar="LOSS",
        help="skipgram, cbow: negative (sampling) or hierarchical (softmax over a Huffman tree); "
        "skipgram, to compare: softmax (over all words) or nce (noise-contrastive estimation, "
        "Gutmann & Hyvärinen 2010); collobert: rank.",
        show_default="negative; collobert rank",
        rich_help_panel=panels.MODEL,
    ),
]
Size = Annotated[int | None, _option("--size", panels.MODEL, "D", "Numbers in a vector.", "100")]
Window = Annotated[
    int | None,
    _option(
        "--window",
        panels.MODEL,
        "N",
        "Words of context on a side.",
        "5; glove 10, eigenwords 2",
        min=1,
    ),
]
Negative = Annotated[
    int | None,
    _option(
        "--negative", panels.MODEL, "K", "Noise words from which each is told.", "5; nce 25", min=1
    ),
]
NoisePower = Annotated[
    float | None,
    _option(
        "--noise-power",
        panels.MODEL,
        "P",
        "Noise is drawn by counts to this power.",
        "0.75; collobert 0",
    ),
]
Hidden = Annotated[
    int | None,
    _option("--hidden", panels.MODEL, "H", "collobert: units of the hidden layer.", "100", min=1),
]
Subword = Annotated[
    str | None,
    _option(
        "--subword",
        panels.MODEL,
        "N-N",
        "Add up the vectors of character n-grams of such sizes, as in fastText: 3-6.",
        "words only",
    ),
]
Buckets = Annotated[
    int | None,
    _option("--buckets", panels.MODEL, "N", "Hash n-grams to N buckets.", "2000000", min=1),
]
XMax = Annotated[
    float | None,
    _option("--x-max", panels.MODEL, "X", "glove: count from which all weigh the same.", "10"),
]
Alpha = Annotated[
    float | None,
    _option("--alpha", panels.MODEL, "A", "glove: power of the weight of smaller counts.", "0.75"),
]
Shift = Annotated[
    float | None,
    _option("--shift", panels.MODEL, "K", "ppmi: subtract ln K.", "1"),
]
Smoothing = Annotated[
    float | None,
    _option(
        "--context-smoothing", panels.MODEL, "P", "ppmi: power of the counts of contexts.", "0.75"
    ),
]
Power = Annotated[
    float | None,
    _option(
        "--power",
        panels.MODEL,
        "P",
        "ppmi, hellinger, eigenwords: power of the singular values.",
        "0.5, 1, 0",
    ),
]
Contexts = Annotated[
    int | None,
    _option(
        "--contexts",
        panels.MODEL,
        "N",
        "ppmi, hellinger, eigenwords: only the N most frequent words are contexts.",
        "all",
        min=1,
    ),
]
CountPower = Annotated[
    float | None,
    _option(
        "--count-power",
        panels.MODEL,
        "P",
        "eigenwords: power of all counts; 1 is plain CCA.",
        "0.5",
    ),
]
Dtype = Annotated[
    Literal["float32", "float16"],
    typer.Option(
        "--dtype",
        help="Keep the vectors so; float16 takes half the space.",
        rich_help_panel=panels.MODEL,
    ),
]
Continue = Annotated[
    str | None,
    typer.Option(
        "--continue",
        metavar="MODEL",
        help="Go on training MODEL with this text; its settings are the defaults, and new words "
        "are added.",
        autocompletion=complete_model,
        show_default=False,
        rich_help_panel=panels.MODEL,
    ),
]
Epochs = Annotated[
    int | None,
    _option("--epochs", panels.TRAINING, "N", "Passes over the text.", "5; glove 25", min=1),
]
Rate = Annotated[
    float | None,
    _option(
        "--learning-rate",
        panels.TRAINING,
        "R",
        "Of the first step; falls to nearly 0 (glove: by AdaGrad).",
        "skipgram 0.04, cbow 0.06, with hierarchical 0.03 and 0.05; softmax 0.1; glove, nce, "
        "subword 0.05; collobert 0.007",
    ),
]
Subsample = Annotated[
    float | None,
    _option(
        "--subsample",
        panels.TRAINING,
        "T",
        "Leave out some occurrences of words that make up more than this share of the text; 0 "
        "keeps all.",
        "0.001",
    ),
]
Formula = Annotated[
    Literal["word2vec", "paper"] | None,
    typer.Option(
        "--subsample-formula",
        metavar="FORMULA",
        help="Of words with share f keep: word2vec sqrt(t/f) + t/f (as the program does) or paper "
        "sqrt(t/f) (as Mikolov et al. 2013b print).",
        show_default="word2vec",
        rich_help_panel=panels.TRAINING,
    ),
]
MinCount = Annotated[
    int | None,
    _option("--min-count", panels.DATA, "K", "Leave out words seen fewer times.", "5", min=1),
]
VocabSize = Annotated[
    int | None,
    typer.Option(
        "--vocab-size",
        metavar="K",
        min=1,
        help="Keep the K most frequent words.",
        show_default="all",
        rich_help_panel=panels.DATA,
    ),
]
Lower = Annotated[
    bool | None, typer.Option("--lower", help="Lower-case the text.", rich_help_panel=panels.DATA)
]
Normalize = Annotated[
    Literal["none", "nfc", "nfkc"] | None,
    typer.Option(
        "--normalize",
        help="Unicode normalization of the text.",
        show_default="none",
        rich_help_panel=panels.DATA,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="Memory for counting, such as 2G or 500M; more goes to temporary files.",
        show_default="2G",
        rich_help_panel=panels.RUN,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to the group."""
    command(
        app,
        "fit",
        examples=[
            "lmkit embed fit $(lmkit corpora path kingdoms) --size 50 -o kingdoms50",
            "lmkit embed fit $(lmkit corpora path prose.train) --arch ppmi --size 50 -o ./ppmi50",
        ],
    )(fit_command)


def fit_command(
    files: Files = None,
    out: Out = None,
    arch: Arch = None,
    loss: LossOption = None,
    size: Size = None,
    window: Window = None,
    negative: Negative = None,
    noise_power: NoisePower = None,
    hidden: Hidden = None,
    subword: Subword = None,
    buckets: Buckets = None,
    x_max: XMax = None,
    alpha: Alpha = None,
    shift: Shift = None,
    context_smoothing: Smoothing = None,
    power: Power = None,
    contexts: Contexts = None,
    count_power: CountPower = None,
    dtype: Dtype = "float32",
    older: Continue = None,
    epochs: Epochs = None,
    learning_rate: Rate = None,
    subsample: Subsample = None,
    subsample_formula: Formula = None,
    min_count: MinCount = None,
    vocab_size: VocabSize = None,
    lower: Lower = None,
    normalize: Normalize = None,
    errors: Errors = "strict",
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
    """Fit word vectors to text: by predicting neighbours or by counting them."""
    options = dict(locals())
    from lmkit.embed.formats.kinds import kind_of_suffix
    from lmkit.store.home import mark_last, resolve_out
    from lmkit.tasks.embed_settings import EmbedSettings, fit_config
    from lmkit.tasks.fit_embed import fit_embed

    options["memory"] = None if memory is None else parse_size(memory)
    settings = fit_config(older, **{name: options[name] for name in EmbedSettings.__annotations__})
    sources = choose_sources(files)
    path = resolve_out(out, default_name(settings.model.arch, sources), force)
    if kind_of_suffix(path.name) is not None:
        raise UserError(
            f"a fit makes a model, a directory, and {path.name} is named like a file of vectors",
            f"Name a model, then lmkit embed convert MODEL {path.name}",
        )
    with listening(quiet, progress) as listener:
        fitted = fit_embed(sources, path, settings, older=older, force=force, listener=listener)
        mark_last("embed", fitted.path, listener)
        listener.note(_summary(fitted))


def _summary(fitted: FittedEmbed) -> str:
    made = f"{fitted.path}: {fitted.num_words:,} words, {fitted.size} numbers each"
    text = f"from {fitted.num_tokens:,} tokens"
    training = fitted.training
    if training is None:
        return f"{made}, {text}"
    epochs = f"{training.epochs} {'epoch' if training.epochs == 1 else 'epochs'}"
    if training.seconds:
        speed = fitted.num_tokens * training.epochs / training.seconds
        epochs += f" of {speed / 1e6:.2f}M words/s"
    return f"{made}, {text} in {epochs}, loss {training.losses[-1]:.4f}"
