"""What no body could be written of: nesting without measure, halves of characters."""

from typing import Any, Final

import orjson

from .faults import STRUCTURE, VALUE, Fault

_DEEPEST: Final = 100
_WIDEST: Final = 2**63


def unwritable(resource: dict[str, Any]) -> list[Fault]:
    """The first place where a resource cannot be written as JSON in UTF-8."""
    try:
        orjson.dumps(resource, default=_number)
    except (TypeError, ValueError, RecursionError):
        return [_place(resource)]
    return []


def _number(_: object) -> None:
    """A decimal writes itself; any other number is judged by the walk."""


def _place(resource: dict[str, Any]) -> Fault:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), resource)]
    while waiting:
        path, one = waiting.pop()
        if len(path) > _DEEPEST:
            return Fault(STRUCTURE, f"The resource is nested more than {_DEEPEST} levels deep.", path[:1])
        if isinstance(one, str) and not _is_writable(one):
            return Fault(VALUE, "A text has half of a character (a lone surrogate).", path)
        if isinstance(one, int) and not -_WIDEST <= one < _WIDEST:
            return Fault(VALUE, "A whole number of more than 18 digits is out of range.", path)
        if isinstance(one, dict):
            if not all(_is_writable(name) for name in one):
                return Fault(STRUCTURE, "A member has a name that is no name of an element.", path)
            waiting += (((*path, name), child) for name, child in one.items())
        elif isinstance(one, list):
            waiting += (((*path, place), child) for place, child in enumerate(one))
    return Fault(VALUE, "The resource cannot be written as JSON.")


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


__all__ = ["unwritable"]
