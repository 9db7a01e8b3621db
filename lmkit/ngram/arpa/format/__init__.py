"""Putting n-grams into the lines of an ARPA file."""
