"""The names of the panels into which ``--help`` sorts options and commands."""

DATA = "Data"
MODEL = "Model"
TRAINING = "Training"
SAMPLING = "Sampling"
RUN = "Run"

START = "Start here"
COUNTING = "Counting words: n-grams (Markov 1913, Shannon 1948, Kneser and Ney 1995)"
ANY_MODEL = "Any language model"
KEEPING = "Models and texts on this machine"
"""Panels of commands, in the order of ``lmkit --help``: a tour, then the history, then the rest."""
