"""Losses that the fast ones are compared with: full softmax, NCE, Collobert & Weston's ranking."""
