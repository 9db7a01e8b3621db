"""Word vectors: trained by prediction or by counting, read, written, asked and drawn."""
