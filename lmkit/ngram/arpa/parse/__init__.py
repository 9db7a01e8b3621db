"""Parsing the lines of an ARPA file."""
