"""The errors of lmkit, one tree.

    LmkitError
    ├── UserError            what the user can mend: exit code 3, one line, no traceback
    │   ├── TextError        bad text; the message names FILE:LINE:COLUMN
    │   └── ModelError       a model that is missing, corrupt, of another family, or in the way
    └── NegativeResult       the command ran and the answer is no: exit code 1

A failed ``assert`` or any other exception is a bug of ours and keeps its traceback.
"""


class LmkitError(Exception):
    """Root of everything lmkit raises on purpose."""


class UserError(LmkitError):
    """Something the user can mend; shown as ``lmkit: error: WHAT. TRY.`` (exit code 3).

    Args:
        what: what is wrong, without its final full stop.
        hint: a sentence that says what to try; may be empty.
    """

    def __init__(self, what: str, hint: str = "") -> None:
        self.what = what
        self.hint = hint
        super().__init__(what, hint)

    def __str__(self) -> str:
        """Join what is wrong and what to try into one line."""
        parts = [part.rstrip(". ") + "." for part in (self.what, self.hint) if part]
        return " ".join(parts).replace("\n", " ")


class TextError(UserError):
    """Text that cannot be read as it stands; the message begins with FILE:LINE:COLUMN."""


class ModelError(UserError):
    """A model that is missing, corrupt, of another family, or in the way."""


class NegativeResult(LmkitError):
    """The command did its work and the answer is negative (exit code 1)."""
