"""Pictures of word vectors: planes, maps and how they are drawn."""
