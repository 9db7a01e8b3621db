"""Looking up the words of n-grams: a word index made for millions of look-ups in a row."""
