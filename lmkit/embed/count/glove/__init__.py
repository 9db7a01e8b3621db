"""GloVe: word vectors from the logarithms of co-occurrence counts (Pennington et al. 2014)."""

from lmkit.embed.count.glove.training import GloveConfig, GloveResult, fit_glove

__all__ = ["GloveConfig", "GloveResult", "fit_glove"]
