"""Floor 2: the texts that ship with lmkit and the grammar that makes more."""
