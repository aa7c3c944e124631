"""What looks for harm in contents: the checks of the structure alone, or ClamAV where `CLAMAV_URL` is set.

A scanner is a function that takes a readable file. `scanner` chooses it by the scheme of the setting.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Final
from urllib.parse import urlsplit

from django.conf import settings

from . import clamav


class ScannerAway(Exception):
    """The scanner does not answer, or cannot judge now; the file stays in quarantine."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a scanner found; "" for nothing."""

    scanner: str
    finding: str = ""


Scan = Callable[[IO[bytes]], Verdict]

BUILT_IN: Final = "built_in"
CLAMAV: Final = "clamav"


def scanner() -> Scan:
    """Return the scanner of this installation."""
    return _BY_SCHEME[urlsplit(settings.CLAMAV_URL).scheme]


def _structure(_: IO[bytes]) -> Verdict:
    """Pass a content: its type and structure were checked when it came, and nothing else is installed."""
    return Verdict(BUILT_IN)


def _clamav(content: IO[bytes]) -> Verdict:
    try:
        return Verdict(CLAMAV, clamav.finding_in(content, settings.CLAMAV_URL))
    except (OSError, clamav.NotJudged) as error:
        raise ScannerAway(str(error)) from error


_BY_SCHEME: Final[Mapping[str, Scan]] = {"": _structure, "tcp": _clamav, "unix": _clamav}
