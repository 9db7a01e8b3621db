"""Phrases: words that stand side by side far more often than chance has it (new_york)."""
