"""Floor 1: bytes to lines to tokens to ids."""
