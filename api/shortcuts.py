"""Short cuts through DRF's field checks: plain values that are certainly right need not walk through the field.

A short cut answers only what the field itself would; anything it is not sure of is left to the field.
"""

from collections.abc import Callable
from typing import Any

from django.core import validators as django_validators
from rest_framework import serializers
from rest_framework.fields import SkipField
from rest_framework.validators import ProhibitSurrogateCharactersValidator

_UNSURE = object()
_NOTHING = object()

Check = Callable[[Any], Any]


class Step:
    """One field of a serializer, ready to check its member of a body."""

    __slots__ = ("_absent", "_field", "_more", "_null", "_plain", "target")

    def __init__(self, field: serializers.Field[Any, Any, Any, Any], more: Check | None) -> None:
        if field.source_attrs != [field.source] or field.source == "*":
            raise TypeError(f"{field.field_name}: a field of an input names one member")
        self.target, self._field, self._more = str(field.source), field, more
        usual = type(field).validate_empty_values is serializers.Field.validate_empty_values
        self._null = usual and field.allow_null and not field.read_only
        self._absent = _UNSURE if not usual else _absent(field)
        self._plain = _plain(field)

    def check(self, value: Any) -> Any:
        """The checked value of a member, or of its absence.

        :raises ValidationError: as the field says.
        :raises SkipField: absent, and nothing stands in for it.
        """
        if value is serializers.empty:
            found = self._absent
        elif value is None:
            found = None if self._null else _UNSURE
        else:
            found = self._plain(value)
        if found is _NOTHING:
            raise SkipField
        if found is _UNSURE:
            found = self._field.run_validation(value)
        return found if self._more is None else self._more(found)


def _absent(field: serializers.Field[Any, Any, Any, Any]) -> Any:
    """The constant that stands for an absent member, or that nothing does."""
    if getattr(field.root, "partial", False):
        return _NOTHING
    if field.required or (callable(field.default) and field.default is not serializers.empty):
        return _UNSURE
    return _NOTHING if field.default is serializers.empty else field.default


def _plain(field: serializers.Field[Any, Any, Any, Any]) -> Check:
    """The short cut for a field of a known kind with validators of known kinds."""
    make = _SHORTCUTS.get(type(field))
    return (make(field) if make else None) or _unsure


def _unsure(_value: Any) -> Any:
    return _UNSURE


def _text(field: Any) -> Check | None:
    limits = _limits(field, django_validators.MinLengthValidator, django_validators.MaxLengthValidator)
    if limits is None or not field.trim_whitespace:
        return None
    least, most = limits

    def check(value: Any) -> Any:
        if type(value) is not str:
            return _UNSURE
        text = value.strip()
        # Other than ASCII text may hold what cannot be stored: the field looks closer.
        if not text or not text.isascii() or "\0" in text:
            return _UNSURE
        length = len(text)
        fits = (least is None or length >= least) and (most is None or length <= most)
        return text if fits else _UNSURE

    return check


def _integer(field: Any) -> Check | None:
    limits = _limits(field, django_validators.MinValueValidator, django_validators.MaxValueValidator)
    if limits is None:
        return None
    least, most = limits

    def check(value: Any) -> Any:
        if type(value) is not int:
            return _UNSURE
        return value if (least is None or value >= least) and (most is None or value <= most) else _UNSURE

    return check


def _choice(field: Any) -> Check | None:
    if field.validators:
        return None
    return lambda value: field.choice_strings_to_values.get(value, _UNSURE) if type(value) is str else _UNSURE


def _boolean(field: Any) -> Check | None:
    if field.validators:
        return None
    return lambda value: value if type(value) is bool else _UNSURE


def _limits(field: Any, least: type[Any], most: type[Any]) -> tuple[int | None, int | None] | None:
    """The bounds that a field's validators set; None where one of them is of another kind."""
    found: dict[type[Any], int] = {}
    for validator in field.validators:
        if type(validator) in _OF_EVERY_TEXT:
            continue
        if type(validator) not in (least, most) or callable(validator.limit_value) or type(validator) in found:
            return None
        found[type(validator)] = validator.limit_value
    return found.get(least), found.get(most)


_OF_EVERY_TEXT = (django_validators.ProhibitNullCharactersValidator, ProhibitSurrogateCharactersValidator)
_SHORTCUTS: dict[type[Any], Callable[[Any], Check | None]] = {
    serializers.CharField: _text,
    serializers.IntegerField: _integer,
    serializers.ChoiceField: _choice,
    serializers.BooleanField: _boolean,
}
