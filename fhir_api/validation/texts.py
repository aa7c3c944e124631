"""What no body could be written of: nesting without measure, halves of characters, numbers beyond all measure."""

from decimal import Decimal
from typing import Any, Final

import orjson

from .faults import STRUCTURE, VALUE, Fault

_DEEPEST: Final = 100
_FURTHEST: Final = 300  # decimal exponent
_WIDEST: Final = 2**63


def written(resource: dict[str, Any]) -> bytes:
    """A resource as JSON in UTF-8, its decimals left out; nothing if it cannot be written."""
    try:
        return orjson.dumps(resource, default=_number)
    except (TypeError, ValueError, RecursionError):
        return b""


def _number(value: object) -> None:
    """A decimal writes itself, within what a float holds: the schema's arithmetic would take seconds for 1e999999."""
    if not _is_measurable(value):
        raise ValueError


def _is_measurable(value: object) -> bool:
    return isinstance(value, Decimal) and value.is_finite() and -_FURTHEST <= value.adjusted() <= _FURTHEST


def unwritable(resource: dict[str, Any]) -> Fault:
    """The first place where a resource cannot be written."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), resource)]
    while waiting:
        path, one = waiting.pop()
        if len(path) > _DEEPEST:
            return Fault(STRUCTURE, f"The resource is nested more than {_DEEPEST} levels deep.", path[:1])
        if words := _unwritable_value(one):
            return Fault(VALUE, words, path)
        if isinstance(one, dict):
            if not all(_is_writable(name) for name in one):
                return Fault(STRUCTURE, "A member has a name that is no name of an element.", path)
            waiting += (((*path, name), child) for name, child in one.items())
        elif isinstance(one, list):
            waiting += (((*path, place), child) for place, child in enumerate(one))
    return Fault(VALUE, "The resource cannot be written as JSON.")


def _unwritable_value(value: Any) -> str:
    """Why a single value cannot be written, or nothing."""
    if isinstance(value, str) and not _is_writable(value):
        return "A text has half of a character (a lone surrogate)."
    if isinstance(value, int) and not -_WIDEST <= value < _WIDEST:
        return "A whole number of more than 18 digits is out of range."
    return "The number is out of range." if isinstance(value, Decimal) and not _is_measurable(value) else ""


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


__all__ = ["unwritable", "written"]
