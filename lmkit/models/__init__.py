"""Neural language models, one file a paper."""
