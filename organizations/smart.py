"""SMART scopes (`system/Observation.rs`): which clients may have them, and which scopes of the platform they imply.

The clinical record decides which types and interactions a scope allows. A client that acts for a person may ask for one
patient's record (`launch/patient`, `patient/…`); the person chooses the patient on the consent page.
Source: SMART App Launch 2.0, scopes-and-launch-context.html.
"""

import re
from collections.abc import Iterable
from typing import Final

_SCOPE = re.compile(r"(patient|user|system)/(\*|[A-Z][A-Za-z]+)\.(\*|read|write|(?=[cruds])c?r?u?d?s?)")
_FIRST_VERSION = {"read": "rs", "write": "cud", "*": "cruds"}
READ, WRITE = "healthcare.read", "healthcare.write"
OF_RECORD: Final = frozenset((READ, WRITE))
ONE_PATIENT: Final = "launch/patient"


def is_smart(scope: str, *, machine: bool) -> bool:
    """Tell whether a client may have a SMART scope: `system/` for machines, `user/` or `patient/` for others."""
    if scope == ONE_PATIENT:
        return not machine
    match = _SCOPE.fullmatch(scope)
    return match is not None and (match[1] == "system") is machine


def is_within(scope: str, listed: Iterable[str]) -> bool:
    """Tell whether a SMART scope is covered by the listed ones: same or fewer interactions, same type or one of `*`."""
    wanted = _SCOPE.fullmatch(scope)
    if wanted is None:
        return False
    given = [one for one in map(_SCOPE.fullmatch, listed) if one and one[1] == wanted[1] and one[2] in ("*", wanted[2])]
    return set(_letters(wanted)) <= {letter for one in given for letter in _letters(one)}


def of_one_patient(scopes: Iterable[str]) -> bool:
    """Tell whether a scope asks for a token that is bound to one patient."""
    return any(scope == ONE_PATIENT or scope.startswith("patient/") for scope in scopes)


def describe(scope: str) -> str | None:
    """Describe in words what a SMART scope allows; None for any other scope."""
    if scope == ONE_PATIENT:
        return "See the record of one patient only, whom you choose."
    match = _SCOPE.fullmatch(scope)
    if match is None:
        return None
    types = "all resources" if match[2] == "*" else f"{match[2]} resources"
    letters = _letters(match)
    words = ["read"] if set(letters) & set("rs") else []
    words += ["write"] if set(letters) & set("cud") else []
    whose = "one patient's clinical record" if match[1] == "patient" else "the clinical record"
    return f"{' and '.join(words).capitalize()} {types} of {whose} (FHIR)."


def implied(scopes: frozenset[str]) -> frozenset[str]:
    """Add the platform scopes that the SMART scopes need to use the clinical record."""
    letters = {letter for match in map(_SCOPE.fullmatch, scopes) if match for letter in _letters(match)}
    reads, writes = letters & set("rs"), letters & set("cud")
    return scopes | ({READ} if reads else set()) | ({WRITE} if writes else set())


def _letters(match: re.Match[str]) -> str:
    return _FIRST_VERSION.get(match[3], match[3])
