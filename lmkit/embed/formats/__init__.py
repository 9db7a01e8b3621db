"""Files of word vectors of other tools: word2vec, GloVe and fastText, read and written.

Reading goes ``sniffing`` (which format), then ``text``, ``binary`` or ``fasttext``, each of which
fills a ``table``. No flag is needed: the content tells the format, and whether there is a header,
which line ends there are, and how a file is compressed. A header that promises more vectors than
there are is an error, for then the file was cut short; one that promises fewer (GloVe's own is
one short) is warned of, and all are read.
"""

from lmkit.embed.formats.kinds import Kind, WrittenKind, kind_of_suffix
from lmkit.embed.formats.reading import read, sniff
from lmkit.embed.formats.writing import write

__all__ = ["Kind", "WrittenKind", "kind_of_suffix", "read", "sniff", "write"]
