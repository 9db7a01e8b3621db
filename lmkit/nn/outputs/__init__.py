"""Output layers: from a hidden state to the probabilities of the next token."""
