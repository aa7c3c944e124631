"""How soon what ended is started again: at once when it had worked, ever later when it never does."""

from dataclasses import dataclass

_STEADY_SECONDS = 15.0
_WORKING_SECONDS = 3.0
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass
class Patience:
    """The failed starts in a row of one part or server."""

    first_pause_seconds: float
    allowed: int
    failures: int = 0

    def pause(self, *, lived_seconds: float, killed: bool) -> float | None:
        """Note an end and return the seconds to wait before the next start; None when it is of no use.

        A kill says less against a program than its own end: sooner counted as one that worked, never a reason to give up.
        """
        if lived_seconds >= (_WORKING_SECONDS if killed else _STEADY_SECONDS):
            self.failures = 0
            return 0.0
        self.failures += 1
        if self.failures >= self.allowed and not killed:
            return None
        return min(_LONGEST_PAUSE_SECONDS, self.first_pause_seconds * 2.0 ** min(self.failures - 1, 20))
