"""Pauses before restarts: none if the process had worked, increasing ones if it keeps failing."""

from dataclasses import dataclass

_STEADY_SECONDS = 15.0
_WORKING_SECONDS = 3.0
_LONGEST_PAUSE_SECONDS = 2.0


@dataclass
class Patience:
    """The consecutive failed starts of one process."""

    first_pause_seconds: float
    allowed: int
    failures: int = 0

    def pause(self, *, lived_seconds: float, killed: bool) -> float | None:
        """Count an end and return the seconds to wait before the next start; None means to give up.

        A process that was killed counts as working after a shorter time, and is never given up.
        """
        if lived_seconds >= (_WORKING_SECONDS if killed else _STEADY_SECONDS):
            self.failures = 0
            return 0.0
        self.failures += 1
        if self.failures >= self.allowed and not killed:
            return None
        return min(_LONGEST_PAUSE_SECONDS, self.first_pause_seconds * 2.0 ** min(self.failures - 1, 20))
