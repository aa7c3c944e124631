"""Fields that the bodies of the catalog share, and other features of suppliers with them."""

import re
from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from api.serializers import suggestion
from core.identifiers import gtin14

from .units import UNITS
from .vocabularies import UNIT

QUANTITY_MAX = 1_000_000_000
MEASURE_MAX = 100_000_000


def optional_text(length: int) -> serializers.CharField:
    """Return a text field that may be absent, null or empty; all three mean that there is no value."""
    return serializers.CharField(max_length=length, required=False, allow_null=True, allow_blank=True, default="")


def whole(*, least: int = 0, most: int = MEASURE_MAX, **more: Any) -> serializers.IntegerField:
    """Return an integer field with bounds; it may be absent or null unless other options are given."""
    options = more or {"required": False, "allow_null": True, "default": None}
    return serializers.IntegerField(min_value=least, max_value=most, **options)


class PatternField(serializers.CharField):
    """A text that matches a pattern, or is empty where the field is optional; `hint` names the pattern in the error."""

    def __init__(self, pattern: re.Pattern[str], hint: str, **more: Any) -> None:
        super().__init__(**more)
        self.pattern, self.hint = pattern, hint

    def to_internal_value(self, data: Any) -> str:
        text: str = super().to_internal_value(data)
        if text and not self.pattern.fullmatch(text):
            raise serializers.ValidationError(f"This is not {self.hint}.", code="invalid_format")
        return text


class UnitField(PatternField):
    """A code of UNECE Recommendation 20 that is in force."""

    def __init__(self, **more: Any) -> None:
        super().__init__(UNIT, "a unit code of UNECE Recommendation 20, such as EA, MLT or GRM", **more)

    def to_internal_value(self, data: Any) -> str:
        code = super().to_internal_value(data)
        if code not in UNITS:
            hint = suggestion(code, sorted(UNITS))
            raise serializers.ValidationError(f"This is not {self.hint}{hint}", code="invalid_choice")
        return code


class GtinField(serializers.CharField):
    """A GTIN of 8, 12, 13 or 14 digits, stored with 14; null if the packaging has none."""

    def to_internal_value(self, data: Any) -> str:
        found = gtin14(super().to_internal_value(data))
        if found is None:
            raise serializers.ValidationError(
                "A GTIN has 8, 12, 13 or 14 digits, the last a valid check digit.", code="invalid_gtin"
            )
        return found


def refuse_repeated(rows: list[dict[str, Any]], names: tuple[str, ...], message: str) -> None:
    """Refuse rows with the same values of `names`; rows without a value of the first name are not compared."""
    seen: set[tuple[Any, ...]] = set()
    faults: list[Mapping[str, Any]] = [{} for _ in rows]
    for position, row in enumerate(rows):
        key = tuple(row.get(name) for name in names)
        if key in seen and key[0] is not None:
            faults[position] = {names[0]: [serializers.ErrorDetail(message, code="duplicate")]}
        seen.add(key)
    if any(faults):
        raise serializers.ValidationError(faults)
