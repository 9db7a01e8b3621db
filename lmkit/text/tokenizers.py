"""The tokenizers: text to ids and back. This is their public door.

Each has the methods of :class:`lmkit.language_model.Tokenizer`, ``encode_block`` for whole blocks,
``spec``, ``arrays`` and ``files`` for what is stored with a model, and ``restore`` to come back.
Words are in ``lmkit.text.vocab``.
"""

from lmkit.text.byte_tokenizer import ByteTokenizer
from lmkit.text.char_tokenizer import CharTokenizer
from lmkit.text.encoding import Encoded, Normalizer
from lmkit.text.sentencepiece_tokenizer import SentencePieceTokenizer
from lmkit.text.sentencepiece_training import SentencePieceConfig, fit_sentencepiece

__all__ = [
    "ByteTokenizer",
    "CharTokenizer",
    "Encoded",
    "Normalizer",
    "SentencePieceConfig",
    "SentencePieceTokenizer",
    "fit_sentencepiece",
]
