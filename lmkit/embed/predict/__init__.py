"""Word vectors trained by predicting words from their neighbours."""
