"""The torch parts that models are made of: blocks, positions, recurrences, output layers."""
