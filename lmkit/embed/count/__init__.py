"""Word vectors by counting: how often words stand near each other, then GloVe or an SVD."""
