"""The compiled training loops of word vectors with subwords."""
