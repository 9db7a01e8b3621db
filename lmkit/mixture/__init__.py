"""Floor 2: linear mixtures of language models."""
