"""lmkit sample: texts drawn from a model."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lmkit.cli import panels
from lmkit.cli.command import command
from lmkit.cli.options import (
    DEFAULT_SEED,
    Config,
    Device,
    Errors,
    Json,
    LineBuffered,
    Model,
    PrintConfig,
    Progress,
    Quiet,
    Seed,
    Threads,
    Verbose,
)
from lmkit.cli.progress import listening
from lmkit.cli.streams import STDIN, answers_at_once, json_line, open_output

if TYPE_CHECKING:
    from lmkit.language_model import Errors as TextErrors
    from lmkit.tasks.sample import Sample


def _check_positive(value: float) -> float:
    if not value > 0.0:
        raise typer.BadParameter(f"{value} is not above 0")
    return value


def _check_finite(value: float) -> float:
    if not value < float("inf"):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value


Prompt = Annotated[
    str | None,
    typer.Argument(
        metavar="[PROMPT]",
        help="What the texts begin with; -: prompts from standard input, one a line.",
        show_default=False,
    ),
]
Count = Annotated[
    int,
    typer.Option(
        "--count",
        metavar="N",
        min=0,
        help="Texts for each prompt.",
        rich_help_panel=panels.SAMPLING,
    ),
]
Temperature = Annotated[
    float,
    typer.Option(
        "--temperature",
        metavar="T",
        min=0.0,
        callback=_check_finite,
        help="Below 1 likely tokens become likelier; 0 takes the likeliest.",
        rich_help_panel=panels.SAMPLING,
    ),
]
TopK = Annotated[
    int,
    typer.Option(
        "--top-k",
        metavar="K",
        min=0,
        help="Draw from the K likeliest tokens only; 0: all.",
        rich_help_panel=panels.SAMPLING,
    ),
]
TopP = Annotated[
    float,
    typer.Option(
        "--top-p",
        metavar="P",
        min=0.0,
        max=1.0,
        callback=_check_positive,
        help="Draw from the fewest likeliest tokens whose probabilities reach P.",
        rich_help_panel=panels.SAMPLING,
    ),
]
MaxTokens = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=1,
        help="Cut texts after N tokens.",
        show_default="1000; 100 for models of documents, which have no end",
        rich_help_panel=panels.SAMPLING,
    ),
]


def sample_command(
    prompt: Prompt = None,
    model: Model = None,
    count: Count = 1,
    temperature: Temperature = 1.0,
    top_k: TopK = 0,
    top_p: TopP = 1.0,
    max_tokens: MaxTokens = None,
    seed: Seed = DEFAULT_SEED,
    threads: Threads = None,
    device: Device = "auto",
    json: Json = False,
    errors: Errors = "strict",
    line_buffered: LineBuffered = False,
    quiet: Quiet = False,
    verbose: Verbose = 0,
    progress: Progress = "auto",
    config: Config = None,
    print_config: PrintConfig = False,
) -> None:
    """Draw texts from a model, one a line.

    Prompts come from the argument, or else one a line from a pipe or file on standard input; on
    a terminal and with < /dev/null texts begin from nothing. Each prompt gets --count lines, the
    prompt included; a blank one begins from nothing. Line ends within a text become spaces; with
    --json they stay: prompt, text, index, logprob (of the drawn tokens), tokens, finished.
    """
    from lmkit.decode.sample import SamplingConfig
    from lmkit.tasks.families import open_language_model
    from lmkit.tasks.sample import sample
    from lmkit.tasks.threads import num_threads

    settings = SamplingConfig(
        temperature=temperature, top_k=top_k, top_p=top_p, max_tokens=max_tokens or 0, seed=seed
    )
    piped = prompt == STDIN or (prompt is None and _stdin_has_prompts())
    at_once = piped and answers_at_once([STDIN], line_buffered)
    with (
        listening(quiet, progress, streams_results=True) as listener,
        open_output(line_buffered=at_once or line_buffered) as out,
    ):
        source = open_language_model(model, listener)
        prompts = _prompts(errors) if piped else iter([prompt or ""])
        texts = sample(
            source,
            prompts,
            count=count,
            config=settings,
            streaming=at_once,
            threads=num_threads(threads),
            logprobs=json,
        )
        for text in texts:
            out.write(json_line(_object(text)) if json else text.line)


def _stdin_has_prompts() -> bool:
    """Tell whether standard input is a pipe or a file: neither a terminal nor /dev/null."""
    if sys.stdin is None:
        return False
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return True
    return not stat.S_ISCHR(mode)


def _prompts(errors: TextErrors) -> Iterator[str]:
    from lmkit.text.lines import read_lines

    return read_lines([STDIN], errors=errors)


def _object(sample: Sample) -> dict[str, Any]:
    return {
        "prompt": sample.prompt,
        "text": sample.text,
        "index": sample.index,
        "logprob": sample.logprob,
        "tokens": sample.tokens,
        "finished": sample.finished,
    }


def register(app: typer.Typer, prefix: str = "lmkit", panel: str | None = None) -> None:
    """Add the command ``sample`` to ``app``, whose own name is ``prefix``."""
    examples = [
        f"{prefix} sample --count 5 --seed 1 < /dev/null",
        f"{prefix} sample --temperature 0.8 --top-k 40 'the king'",
    ]
    command(app, "sample", examples=examples, panel=panel)(sample_command)
