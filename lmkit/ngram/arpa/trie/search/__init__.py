"""Finding the n-grams of one order by context and word while the trie is built."""
