"""The part of the tour ``lmkit quickstart`` that is about word vectors."""

from __future__ import annotations

from lmkit.corpora.catalogue import path as corpus_path
from lmkit.events import Listener
from lmkit.measures.analogies import AnalogyScores
from lmkit.store.home import mark_last
from lmkit.tasks.analogy import AnalogyConfig, answer, questions
from lmkit.tasks.embed_settings import fit_config
from lmkit.tasks.eval_embed import EvalConfig, eval_embed
from lmkit.tasks.fit_embed import fit_embed
from lmkit.tasks.open_vectors import open_vectors
from lmkit.tasks.query_embed import neighbor_questions
from lmkit.tasks.quickstart_step import QuickstartConfig, Step, model_path, model_size

VECTORS = "quickstart-vectors"
EPOCHS = 10
"""Passes over the text, enough for capitals, which are named seldom."""
ANALOGIES = ("king man woman", "paris france italy")
WORDS = ("bread",)
"""Words whose neighbours are shown."""
TOP = 3


def fit_vectors(config: QuickstartConfig, listener: Listener) -> Step:
    """Fit word vectors to kingdoms, in one thread, so that they are the same every time."""
    fitted = fit_embed(
        [str(corpus_path("kingdoms"))],
        model_path(VECTORS),
        fit_config(epochs=EPOCHS, seed=config.seed, threads=1),
        force=True,
        listener=listener,
    )
    mark_last("embed", fitted.path, listener)
    made = (VECTORS, "kingdoms", fitted.num_tokens, fitted.num_words, fitted.size)
    return Step(
        name="vectors",
        title="Fit word vectors: learn from each word what stands around it (skip-gram)",
        lesson="Words that are used alike get vectors that lie close to each other.\nOne thread, "
        "for with several the vectors differ a little from run to run.",
        commands=(
            f'lmkit embed fit "$(lmkit corpora path kingdoms)" --epochs {EPOCHS} '
            f"--seed {config.seed} --threads 1 -o {VECTORS} --force",
        ),
        columns=("model", "text", "tokens", "words", "size", "bytes"),
        rows=((*made, model_size(fitted.path)),),
    )


def ask_words(config: QuickstartConfig, listener: Listener) -> Step:
    """Answer analogies, and find the neighbours of a word."""
    del config, listener
    vectors = open_vectors(str(model_path(VECTORS)))
    asked = [*questions(ANALOGIES), *neighbor_questions(vectors, WORDS)]
    rows = [
        (result.text, word, score)
        for result in answer(vectors, asked, AnalogyConfig(top=TOP))
        for word, score in result.answers
    ]
    return Step(
        name="words",
        title="Calculate with words: king - man + woman, and what is near",
        lesson="No line of the text has both king and queen; words are known by the company they "
        "keep.\nA question without -m goes to the newest model.",
        commands=(
            *(f"lmkit analogy {words} --top {TOP}" for words in ANALOGIES),
            *(f"lmkit embed neighbors {word} --top {TOP}" for word in WORDS),
        ),
        columns=("asked", "answer", "cosine"),
        rows=tuple(rows),
    )


def measure_vectors(config: QuickstartConfig, listener: Listener) -> Step:
    """Measure the vectors by the analogy questions about kingdoms."""
    sheet = corpus_path("kingdoms.questions")
    settings = EvalConfig(threads=config.threads)
    (scores,) = eval_embed(str(model_path(VECTORS)), [sheet], settings, listener)
    assert isinstance(scores, AnalogyScores)
    parts = (*scores.sections, scores.total)
    return Step(
        name="measure",
        title=f"Measure them by {scores.total.questions:,} such questions",
        lesson="From men to women one step leads everywhere; from a word to its opposite there "
        "is no\nsuch step. The text states none of these questions.",
        commands=(f'lmkit embed eval -m {VECTORS} "$(lmkit corpora path kingdoms.questions)"',),
        columns=("section", "questions", "correct", "accuracy"),
        rows=tuple((p.name, p.questions, p.correct, p.accuracy or 0.0) for p in parts),
    )
