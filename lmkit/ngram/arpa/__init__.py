"""The ARPA format: n-gram models as text, read and written.

``reader.read_arpa`` and ``writer.write_arpa`` are the doors. Reading goes ``scanner`` (bytes to
pieces), ``walk`` (sections), ``sections`` and ``parse`` (lines to word ids and numbers),
``lexicon`` (words), ``trie`` (n-grams in any order to the records of a model).
"""
