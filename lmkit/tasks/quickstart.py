"""The whole tour on the corpora that come with lmkit: the work behind ``lmkit quickstart``.

Each step calls the functions that the commands call, and names the command lines that a person
would type for the same. A new step is one function in :data:`STEPS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lmkit.corpora.catalogue import path as corpus_path
from lmkit.decode.sample import SamplingConfig
from lmkit.events import SILENT, Listener
from lmkit.language_model import LanguageModel
from lmkit.measures.perplexity import Evaluation
from lmkit.ngram.config import NgramConfig
from lmkit.store.home import mark_last
from lmkit.tasks.evaluate import evaluate
from lmkit.tasks.families import open_model
from lmkit.tasks.fit_ngram import FitNgramConfig, fit_ngram
from lmkit.tasks.mix import MixConfig, mix
from lmkit.tasks.quickstart_step import QuickstartConfig, Step, model_path, model_size
from lmkit.tasks.quickstart_words import ask_words, fit_vectors, measure_vectors
from lmkit.tasks.sample import sample
from lmkit.tasks.score import score_lines

MIXTURE = "quickstart-mix"
LINES = ("the queen of spain wears a crown .", "spain crown the of a queen wears .")
"""The same words twice, once in order and once not."""


@dataclass(frozen=True, slots=True)
class _Recipe:
    """A model of the tour: what is fitted to what, and on what it is judged."""

    name: str
    corpus: str
    unit: str
    order: int
    test: str


RECIPES = (
    _Recipe("quickstart-prose", "prose.train", "word", 3, "prose.test"),
    _Recipe("quickstart-prose-char", "prose.train", "char", 6, "prose.test"),
    _Recipe("quickstart-prose-byte", "prose.train", "byte", 6, "prose.test"),
    _Recipe("quickstart-kingdoms", "kingdoms", "word", 5, "kingdoms.test"),
    _Recipe("quickstart-kingdoms-byte", "kingdoms", "byte", 8, "kingdoms.test"),
)
PROSE_BYTES, KINGDOMS, KINGDOMS_BYTES = (RECIPES[i].name for i in (2, 3, 4))


def fit_models(config: QuickstartConfig, listener: Listener) -> Step:
    """Fit the models of :data:`RECIPES`; those of an earlier tour are replaced."""
    rows = []
    for recipe in RECIPES:
        settings = FitNgramConfig(
            model=NgramConfig(order=recipe.order), unit=recipe.unit, threads=config.threads
        )
        fitted = fit_ngram(
            [str(corpus_path(recipe.corpus))],
            model_path(recipe.name),
            settings,
            force=True,
            listener=listener,
        )
        mark_last("ngram", fitted.path, listener)
        made = (recipe.name, recipe.corpus, recipe.unit, recipe.order)
        rows.append((*made, fitted.num_tokens, sum(fitted.counts), model_size(fitted.path)))
    return Step(
        name="fit",
        title="Fit n-gram models: count what follows what, and smooth (modified Kneser-Ney)",
        lesson="A token is a word, a character or a byte. Models are found by their names.",
        commands=tuple(_fit_command(recipe) for recipe in RECIPES),
        columns=("model", "text", "unit", "order", "tokens", "n-grams", "bytes"),
        rows=tuple(rows),
    )


def _fit_command(recipe: _Recipe) -> str:
    unit = "" if recipe.unit == "word" else f" --unit {recipe.unit}"
    text = f"$(lmkit corpora path {recipe.corpus})"
    return f'lmkit ngram fit "{text}"{unit} --order {recipe.order} -o {recipe.name} --force'


def evaluate_models(config: QuickstartConfig, listener: Listener) -> Step:
    """Measure how well each model predicts text that it has not seen."""
    rows: list[tuple[str | int | float, ...]] = []
    for recipe in RECIPES:
        result = _judge(open_model(model_path(recipe.name)), recipe.test, config, listener)
        counts = (result.tokens, result.oov)
        rows.append((recipe.name, recipe.test, *counts, result.perplexity, result.bits_per_byte))
    return Step(
        name="evaluate",
        title="Evaluate them on texts they have not seen",
        lesson="A perplexity counts in the unit of its model, so compare bits_per_byte; and that "
        "only\nwhere oov is 0: one token stands for all unknown words, which flatters the model.",
        commands=tuple(
            f'lmkit eval -m {recipe.name} "$(lmkit corpora path {recipe.test})"'
            for recipe in RECIPES
        ),
        columns=("model", "text", "tokens", "oov", "perplexity", "bits_per_byte"),
        rows=tuple(rows),
    )


def mix_models(config: QuickstartConfig, listener: Listener) -> Step:
    """Mix the two models of bytes in the proportions that suit held-out prose."""
    parts = (PROSE_BYTES, KINGDOMS_BYTES)
    path, tuned = mix(
        [str(model_path(name)) for name in parts],
        [corpus_path("prose.valid")],
        str(model_path(MIXTURE)),
        force=True,
        config=MixConfig(threads=config.threads),
        listener=listener,
    )
    rows: list[tuple[str | int | float, ...]] = []
    weights, perplexities = (*tuned.weights, 1.0), (*tuned.perplexities, tuned.perplexity)
    paths = (*map(model_path, parts), path)
    for place, weight, perplexity in zip(paths, weights, perplexities, strict=True):
        result = _judge(open_model(place), "prose.test", config, listener)
        rows.append((place.name, weight, perplexity, result.perplexity, result.bits_per_byte))
    options = " ".join(f"-m {name}" for name in parts)
    return Step(
        name="mix",
        title="Mix two of them; the weights are tuned on prose.valid",
        lesson="A little of the other text helps. The mixture is a model like any other.",
        commands=(
            f'lmkit ngram mix {options} --tune "$(lmkit corpora path prose.valid)" '
            f"-o {MIXTURE} --force",
            f'lmkit eval -m {MIXTURE} "$(lmkit corpora path prose.test)"',
        ),
        columns=("model", "weight", "perplexity_valid", "perplexity_test", "bits_per_byte"),
        rows=tuple(rows),
    )


def score_two_lines(config: QuickstartConfig, listener: Listener) -> Step:
    """Score a sentence and the same words in disorder."""
    del config, listener
    model = open_model(model_path(KINGDOMS))
    scored = [line for lines in score_lines(model, LINES) for line in lines]
    words = " ".join(f"'{line}'" for line in LINES)
    return Step(
        name="score",
        title="Score lines: the natural logarithm of the probability of each",
        lesson="The same words, in order and not. Higher is likelier; sort -g ranks lines.",
        commands=(f"printf '%s\\n' {words} | lmkit score -m {KINGDOMS}",),
        columns=("logprob", "line"),
        rows=tuple((line.logprob, line.line) for line in scored),
    )


def draw_samples(config: QuickstartConfig, listener: Listener) -> Step:
    """Draw a few texts from a model of words and a model of bytes."""
    del listener
    rows = []
    wanted = ((KINGDOMS, "the king", 3), (PROSE_BYTES, "The ", 2))
    for name, prompt, count in wanted:
        settings = SamplingConfig(seed=config.seed)
        drawn = sample(open_model(model_path(name)), [prompt], count=count, config=settings)
        rows += [(name, text.line) for text in drawn]
    return Step(
        name="sample",
        title="Draw texts from a model",
        lesson="The same seed draws the same texts.",
        commands=tuple(
            f"lmkit sample -m {name} --count {count} --seed {config.seed} '{prompt}'"
            for name, prompt, count in wanted
        ),
        columns=("model", "text"),
        rows=tuple(rows),
    )


STEPS: tuple[Callable[[QuickstartConfig, Listener], Step], ...] = (
    fit_models,
    evaluate_models,
    mix_models,
    score_two_lines,
    draw_samples,
    fit_vectors,
    ask_words,
    measure_vectors,
)
"""The tour, in order; a step may use the models of those before it."""


def quickstart(
    config: QuickstartConfig | None = None, listener: Listener = SILENT
) -> Iterator[Step]:
    """Yield the steps of the tour, each when it is done.

    The models go to the home of lmkit under names that begin with ``quickstart-``.

    Raises:
        UserError: the home cannot be written to, or lmkit is not wholly installed.
    """
    config = config or QuickstartConfig()
    for step in STEPS:
        yield step(config, listener)


def _judge(
    model: LanguageModel, text: str, config: QuickstartConfig, listener: Listener
) -> Evaluation:
    return evaluate(model, [corpus_path(text)], threads=config.threads, listener=listener)
