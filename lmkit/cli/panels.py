"""The names of the panels into which ``--help`` sorts options and commands."""

DATA = "Data"
MODEL = "Model"
TRAINING = "Training"
SAMPLING = "Sampling"
RUN = "Run"

OPTIONS = (DATA, MODEL, TRAINING, SAMPLING, RUN)
"""Panels of options, in the order of ``--help``."""

START = "Start here"
COUNTING = "Counting words: n-grams (Markov 1913, Shannon 1948, Kneser and Ney 1995)"
VECTORS = "Word vectors (Bengio 2003, Mikolov 2013, Pennington 2014)"
NEURAL = "Neural language models (Bengio 2003, Hochreiter 1997, Vaswani 2017, Radford 2018)"
ANY_MODEL = "Any language model"
KEEPING = "Models and texts on this machine"

COMMANDS = (START, COUNTING, VECTORS, NEURAL, ANY_MODEL, KEEPING)
"""Panels of commands, in the order of ``lmkit --help``: a tour, then the history, then the rest."""


def place(panel: str | None, order: tuple[str, ...]) -> int:
    """Return where ``panel`` stands in ``order``; those that are not in it come first."""
    return order.index(panel) if panel in order else -1
