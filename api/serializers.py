"""Serializers of bodies: unknown members are refused, and errors take the platform's form."""

import difflib
import re
import threading
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail
from rest_framework.fields import empty

from core import clock
from core.errors import FieldError, InvalidFields
from core.money import is_currency

_of_thread = threading.local()
_MOST_UNKNOWN = 20
_MOST_LISTED = 30
_LONGEST_NAME = 64
_FIRST_YEAR = 1900
_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


class StrictSerializer(serializers.Serializer[Any]):
    """Base of every `…In`: an unknown member is `unknown_field`, so that a misspelt field is never lost silently."""

    def to_internal_value(self, data: Any) -> Any:
        defaults: Mapping[str, Any] = {}
        if isinstance(data, Mapping):
            if not self._known.keys() >= data.keys():
                raise serializers.ValidationError(self._told_with_unknown(data))
            defaults = {name: value for name, value in self._defaults.items() if name not in data}
            self._writable_fields = [field for field in self._known.values() if field.field_name not in defaults]
        found = super().to_internal_value(data)
        return found if self.root.partial else {**defaults, **found}

    def _told_with_unknown(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Everything that is wrong with a body that has unknown members: first the others, then these, with near matches."""
        known = {name: value for name, value in data.items() if name in self._known}
        told: dict[str, Any] = {}
        try:
            StrictSerializer.to_internal_value(self, known)
        except serializers.ValidationError as error:
            told = dict(error.detail) if isinstance(error.detail, dict) else {}
        for name in [name for name in data if name not in self._known][:_MOST_UNKNOWN]:
            hint = suggestion(str(name), [one for one in self._known if one not in data])
            told[name] = ErrorDetail(f"This field is unknown{hint}", code="unknown_field")
        return told

    @cached_property
    def _known(self) -> dict[str, Any]:
        """The fields that may be sent, by name."""
        found = {name: field for name, field in self.fields.items() if not field.read_only}
        for field in found.values():
            _name_choices(field)
        return found

    @cached_property
    def _writable_fields(self) -> list[Any]:
        """DRF's own name; `to_internal_value` puts those in its place that the body at hand concerns."""
        return [*self._known.values()]

    def _read_only_defaults(self) -> dict[str, Any]:
        """DRF's own name: the defaults of fields that cannot be sent. It looks at all fields for each body."""
        return super()._read_only_defaults() if self._shows else {}

    @cached_property
    def _shows(self) -> bool:
        """Tell whether a field cannot be sent."""
        return len(self._known) < len(self.fields)

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        """The defaults that need no check. DRF's loop checks each, which takes half the time of a body with many fields."""
        return {
            name: field.default
            for name, field in self._known.items()
            if not (field.default is empty or callable(field.default) or hasattr(self, f"validate_{name}"))
            and field.source_attrs == [name]
        }


class InstantField(serializers.DateTimeField):
    """An instant: RFC 3339 with an offset, between 1970 and 2200, so that days may be added to it. Returned in UTC."""

    default_error_messages: ClassVar = {
        "offset": "An instant needs an offset from UTC, as in 2026-03-02T09:00:00+01:00.",
        "range": "Instants lie between the years 1970 and 2200.",
    }

    def enforce_timezone(self, value: datetime) -> datetime:
        """Require an offset; the server's own zone says nothing about the caller's."""
        if value.tzinfo is None:
            self.fail("offset")
        try:
            found = value.astimezone(UTC)
        except OverflowError:
            self.fail("range")
        if not 1970 <= found.year < 2200:
            self.fail("range")
        return found


class PrintedField(serializers.CharField):
    """A text that stands on a label or a paper, such as the number of a lot: it holds only characters that can be seen."""

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        for character in text:
            if unicodedata.category(character) in _UNSEEN:
                message = f"Holds a character that cannot be seen: U+{ord(character):04X}."
                raise serializers.ValidationError(message, code="invalid")
        return text


class DecimalField(serializers.DecimalField):
    """A decimal number as JSON or a plain text has it: no exponent, no grouping, no digits of other scripts.

    DRF's own field reads what Python reads, so that "1_50" is 150.
    """

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, str) and not _DECIMAL.fullmatch(data.strip()):
            self.fail("invalid")
        return super().to_internal_value(data)


class DateField(serializers.DateField):
    """A day as YYYY-MM-DD, of the year 1900 or later: an earlier one is a slip of the keyboard.

    There is no last year, since 9999-12-31 is what many systems send for "without an end".
    """

    default_error_messages: ClassVar = {"range": "Dates lie in the year 1900 or later."}

    def to_internal_value(self, value: Any) -> date:
        if isinstance(value, str) and clock.day_of(value) is None:
            self.fail("invalid", format="YYYY-MM-DD")
        found: date = super().to_internal_value(value)
        if found.year < _FIRST_YEAR:
            self.fail("range")
        return found


class CurrencyField(serializers.CharField):
    """An active currency of ISO 4217, or empty where the field is optional."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=3, **more)

    def to_internal_value(self, data: Any) -> str:
        code: str = super().to_internal_value(data)
        if code and not is_currency(code):
            raise serializers.ValidationError("This is no active currency of ISO 4217.", code="invalid_choice")
        return code


def refusal(field: str, message: str, code: str) -> serializers.ValidationError:
    """Return the error of one field for a serializer's `validate` to raise."""
    return serializers.ValidationError({field: [serializers.ErrorDetail(message, code=code)]})


def suggestion(word: str, known: Collection[str]) -> str:
    """Return the end of a message: "; did you mean …?", or "." where nothing known looks like the word."""
    near = difflib.get_close_matches(word, known, n=3, cutoff=0.6) if len(word) <= _LONGEST_NAME else []
    return f"; did you mean {' or '.join(near)}?" if near else "."


def listed(choices: Iterable[Any]) -> str:
    """Return the choices in the form that ends a message: the first thirty, and whether there are more."""
    names = [str(choice) for choice in choices if choice not in ("", None)]
    return ", ".join(names[:_MOST_LISTED]) + (", …" if len(names) > _MOST_LISTED else "")


def _name_choices(field: Any) -> None:
    """Have the refusal of a choice say what may be chosen, in lists of choices too."""
    inner = getattr(field, "child", None)
    if inner is not None:
        _name_choices(inner)
    if isinstance(field, serializers.ChoiceField) and field.choices:
        shown = listed(field.choices).replace("{", "{{").replace("}", "}}")
        told = f'"{{input}}" is not a valid choice; choose one of {shown}.'
        field.error_messages = {**field.error_messages, "invalid_choice": told}


def read(kind: type[serializers.Serializer[Any]], data: Mapping[str, Any], *, partial: bool = False) -> dict[str, Any]:
    """Check a body against its serializer.

    :raises InvalidFields: one or more fields are invalid; `errors` names each, nested ones in dotted form.
    """
    try:
        return dict(form(kind, partial=partial).run_validation(data))
    except serializers.ValidationError as error:
        faults = list(_faults(error.detail, ""))
    only_unknown = all(fault.code == "unknown_field" for fault in faults)
    raise (UnknownBodyField if only_unknown else InvalidFields)(errors=faults)


def form(kind: type[serializers.Serializer[Any]], *, partial: bool = False) -> serializers.Serializer[Any]:
    """Return this thread's serializer of a kind, made once: copying its fields costs more than checking a body.

    The serializer keeps nothing of a body, because `run_validation` only returns its result.
    """
    held: dict[Any, serializers.Serializer[Any]] = _of_thread.__dict__.setdefault("forms", {})
    found = held.get((kind, partial))
    if found is None:
        found = held[kind, partial] = kind(partial=partial)
    return found


@lru_cache(maxsize=512)
def demands(kind: type[serializers.Serializer[Any]], *, partial: bool = False) -> bool:
    """Tell whether a body has a required member."""
    return not partial and any(field.required and not field.read_only for field in form(kind).fields.values())


class UnknownBodyField(InvalidFields):
    """The body has members that the operation does not know."""

    code = "unknown_field"
    title = "The body has an unknown field."


def _faults(node: Any, path: str) -> Iterator[FieldError]:
    if isinstance(node, Mapping):
        for name, child in node.items():
            inner = "" if name == "non_field_errors" else str(name)
            yield from _faults(child, f"{path}.{inner}".strip("."))
    elif isinstance(node, list):
        for position, child in enumerate(node):
            yield from _faults(child, path if isinstance(child, str) else f"{path}.{position}".strip("."))
    else:
        yield FieldError(path, str(getattr(node, "code", "") or "invalid"), str(node))
