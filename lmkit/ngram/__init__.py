"""Floor 2: count-based language models (numpy and numba, never torch)."""
