"""The ARPA format: n-gram models as text, read and written.

Reading goes ``scanner`` (bytes to pieces), ``walk`` (sections), ``sections`` and ``parse`` (lines
to words and numbers), ``lexicon`` (words to ids), ``trie`` (n-grams in any order to the records of
a model).
"""

from lmkit.ngram.arpa.reader import ArpaModel, read_arpa
from lmkit.ngram.arpa.save import save_arpa
from lmkit.ngram.arpa.writer import write_arpa

__all__ = ["ArpaModel", "read_arpa", "save_arpa", "write_arpa"]
