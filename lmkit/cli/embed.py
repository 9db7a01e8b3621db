"""lmkit embed: word vectors."""

from __future__ import annotations

from lmkit.cli import (
    embed_align,
    embed_convert,
    embed_eval,
    embed_fit,
    embed_phrases,
    embed_plot,
    embed_query,
    panels,
)
from lmkit.cli.command import group

app = group("embed", "Word vectors: fit, ask, measure, convert, draw.", panels.VECTORS)

embed_fit.register(app)
embed_query.register(app)
embed_eval.register(app)
embed_align.register(app)
embed_plot.register(app)
embed_convert.register(app)
embed_phrases.register(app)
