"""Training of word vectors that are sums over character n-grams (Bojanowski et al. 2017)."""
