"""The training engine: one loop for every neural model."""
