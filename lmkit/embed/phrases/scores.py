"""How much more often two words stand side by side than chance has it.

- ``word2vec`` (Mikolov et al. 2013, "Distributed representations of words and phrases and their
  compositionality", eq. 6, times the length of the text, as the program word2phrase has it):
  (count(ab) - min_count) / (count(a) count(b)) N, for N words of text. gensim scales by the
  number of different words and pairs instead of N.
- ``npmi`` (Bouma 2009, "Normalized (pointwise) mutual information in collocation extraction"):
  ln(p(ab) / (p(a) p(b))) / -ln p(ab), with p = count / N; 1 for words that are never apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmkit.embed.phrases.config import Score

Counts = NDArray[np.int64]
Scores = NDArray[np.float64]


def score_pairs(
    score: Score, pairs: Counts, left: Counts, right: Counts, *, min_count: int, num_words: int
) -> Scores:
    """Return the scores [P] of P pairs.

    Args:
        score: which score.
        pairs: [P] counts of the pairs, all above 0.
        left: [P] counts of the first word of each.
        right: [P] counts of the second word.
        min_count: what word2vec's score takes off the count of a pair.
        num_words: words of the text, N > 1.
    """
    if score == "word2vec":
        discounted = (pairs - min_count).astype(np.float64)
        return np.asarray(discounted / left / right * num_words)
    logprob = np.log(pairs / num_words)
    information = logprob - np.log(left / num_words) - np.log(right / num_words)
    return np.asarray(information / -logprob)
