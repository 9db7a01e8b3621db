"""What long work tells whoever listens: phases, progress, notes and warnings.

The library never prints. Functions that take long accept a :class:`Listener`; the command line
passes one that draws (see ``lmkit.cli.progress``), a script may pass its own, and the default
:data:`SILENT` hears nothing.
"""


class Listener:
    """Hears about progress; every method of this base class does nothing."""

    def phase(self, name: str, total: int | None = None, unit: str = "") -> None:
        """Begin the phase ``name``, which ends the one before it.

        Args:
            name: what is being done, in a word or two.
            total: how many units the phase has; None when that is not known.
            unit: what is counted, such as ``"B"`` or ``"n-grams"``.
        """

    def advance(self, amount: int) -> None:
        """Say that ``amount`` more units of the current phase are done (main thread only)."""

    def figures(self, **values: float) -> None:
        """Pass on figures of the current phase as they stand, such as ``loss`` (main thread only).

        They are shown with the next progress.
        """

    def finish(self) -> None:
        """End the current phase; no phase follows."""

    def note(self, message: str) -> None:
        """Pass on information for people; not shown with ``--quiet``."""

    def warn(self, message: str) -> None:
        """Pass on a warning; always shown."""


SILENT = Listener()

compile_listener: Listener = SILENT
"""Hears when kernels are compiled, which happens once on a machine; see ``lmkit.jit``."""


def hear_of_compiling(listener: Listener) -> None:
    """Make ``listener`` the one that is told when kernels are compiled."""
    global compile_listener
    compile_listener = listener
