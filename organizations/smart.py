"""SMART scopes (`system/Observation.rs`) as far as the gate must know them: what they imply, and who may have them.

What types and interactions they leave is the clinical record's business. Launch contexts are not issued, so there are no
`patient/` scopes. Source: SMART App Launch 2.0, scopes-and-launch-context.html.
"""

import re

_SCOPE = re.compile(r"(user|system)/(\*|[A-Z][A-Za-z]+)\.(\*|read|write|(?=[cruds])c?r?u?d?s?)")
_FIRST_VERSION = {"read": "rs", "write": "cud", "*": "cruds"}
READ, WRITE = "healthcare.read", "healthcare.write"


def is_smart(scope: str, *, machine: bool) -> bool:
    """Tell whether a scope is one of SMART that this kind of client may have: `system/` machines, `user/` others."""
    match = _SCOPE.fullmatch(scope)
    return match is not None and (match[1] == "system") is machine


def describe(scope: str) -> str | None:
    """What a SMART scope allows, in words; None for any other scope."""
    match = _SCOPE.fullmatch(scope)
    if match is None:
        return None
    types = "all resources" if match[2] == "*" else f"{match[2]} resources"
    letters = _letters(match)
    words = ["read"] if set(letters) & set("rs") else []
    words += ["write"] if set(letters) & set("cud") else []
    return f"{' and '.join(words).capitalize()} {types} of the clinical record (FHIR)."


def implied(scopes: frozenset[str]) -> frozenset[str]:
    """The scopes with those of the platform that SMART ones need to reach the record at all."""
    letters = {letter for match in map(_SCOPE.fullmatch, scopes) if match for letter in _letters(match)}
    reads, writes = letters & set("rs"), letters & set("cud")
    return scopes | ({READ} if reads else set()) | ({WRITE} if writes else set())


def _letters(match: re.Match[str]) -> str:
    return _FIRST_VERSION.get(match[3], match[3])
