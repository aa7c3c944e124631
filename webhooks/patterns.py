"""Which events an endpoint wants: an exact name, a family (`product.*`) or everything (`*`)."""

import difflib
from collections.abc import Collection, Sequence
from typing import ClassVar

from core.errors import FieldError, InvalidFields

EVERYTHING = "*"
_FAMILY = ".*"
_SUGGESTIONS = 3


class UnknownEventPattern(InvalidFields):
    extensions = {"near_matches": {"produkt.created": ["product.created"]}}
    """A pattern that no event of the catalogue can ever match, so it would look healthy and deliver nothing."""

    title: ClassVar[str] = "Some event patterns match no event of the catalogue."


def matches(pattern: str, event_type: str) -> bool:
    """Tell whether an event of this type goes to an endpoint with this pattern.

    `wanted.MATCHES` says the same in SQL; a test holds the two together.
    """
    if pattern == EVERYTHING:
        return True
    if pattern.endswith(_FAMILY):
        return event_type.startswith(pattern[:-1])
    return pattern == event_type


def families(event_types: Collection[str]) -> set[str]:
    """Every family pattern that has a member: `fhir.Patient.created` is in `fhir.*` and `fhir.Patient.*`."""
    found: set[str] = set()
    for event_type in event_types:
        parts = event_type.split(".")
        found.update(".".join(parts[:depth]) + _FAMILY for depth in range(1, len(parts)))
    return found


def near_matches(pattern: str, event_types: Collection[str]) -> list[str]:
    """The known patterns that look most like a misspelt one, best first."""
    known = [*event_types, *families(event_types)]
    return difflib.get_close_matches(pattern.lower(), sorted(known), n=_SUGGESTIONS, cutoff=0.6)


def check(patterns: Sequence[str], event_types: Collection[str], *, field: str = "events") -> list[str]:
    """Return the patterns without repetition, in the order given.

    :raises UnknownEventPattern: one matches nothing; `near_matches` of the answer maps it to what may have been meant.
    """
    known = {EVERYTHING, *event_types, *families(event_types)}
    unknown = {position: pattern for position, pattern in enumerate(patterns) if pattern not in known}
    if unknown:
        near = {pattern: near_matches(pattern, event_types) for pattern in unknown.values()}
        errors = [_unknown(f"{field}.{position}", pattern, near[pattern]) for position, pattern in unknown.items()]
        raise UnknownEventPattern(errors=errors, near_matches=near)
    return list(dict.fromkeys(patterns))


def check_type(event_type: str, event_types: Collection[str]) -> str:
    """Return the name of one event, which is no pattern.

    :raises UnknownEventPattern: the catalogue has no such type.
    """
    if event_type not in event_types:
        near = [name for name in near_matches(event_type, event_types) if name in event_types]
        raise UnknownEventPattern(errors=[_unknown("type", event_type, near)], near_matches={event_type: near})
    return event_type


def _unknown(field: str, pattern: str, near: Sequence[str]) -> FieldError:
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return FieldError(field, "unknown_event_type", f"No event matches {pattern!r}.{hint}")
