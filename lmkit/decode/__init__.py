"""Floor 3: choosing tokens from a model: sampling."""
