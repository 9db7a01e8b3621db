"""R-07b: vectors by counting and by prediction agree (Pennington et al. 2014).

Five kinds of vectors of 100 dimensions are fitted to the same 14.4 million words. Passes if each
reaches 0.6 of the best in the analogies or in word similarity, and PPMI-SVD shares at least 0.3 of
the 10 nearest neighbours of frequent words with skip-gram.

    python benchmarks/history/r07b_count_predict.py --text w14.txt --data DIR --work DIR
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from judged_vectors import HEADER, judge, overlap, parsed, told

from lmkit.tasks.embed_settings import EmbedSettings

KINDS: dict[str, EmbedSettings] = {
    "skipgram": {"arch": "skipgram"},
    "glove": {"arch": "glove"},
    "ppmi": {"arch": "ppmi", "vocab_size": 30_000},
    "hellinger": {"arch": "hellinger", "vocab_size": 30_000},
    "eigenwords": {"arch": "eigenwords", "vocab_size": 30_000},
}
SHARE, OVERLAP = 0.6, 0.3


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code."""
    text, data, work = parsed("R-07b: counting against prediction.", arguments)
    print(HEADER)
    judged = {name: judge(name, text, data, work, kind) for name, kind in KINDS.items()}
    best_total = max(one.total for one in judged.values())
    best_similarity = max(one.similarity for one in judged.values())
    claims = []
    for one in judged.values():
        shares = one.total / best_total, one.similarity / best_similarity
        claim = f"{one.name}: {shares[0]:.2f} of the best analogies, {shares[1]:.2f} of similarity"
        claims.append((claim, max(shares) >= SHARE))
    common = overlap(judged["skipgram"].path, judged["ppmi"].path)
    claims.append((f"ppmi and skip-gram share {common:.2f} of 10 neighbours", common >= OVERLAP))
    return told(claims)


if __name__ == "__main__":
    sys.exit(main())
