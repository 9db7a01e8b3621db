"""From the n-grams of an ARPA file, in any order, to the records of a model."""
