"""Bodies of attribute values: the form of every field. Whether values fit their definitions is told by `checks`."""

import re
from decimal import Decimal
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers import StrictSerializer
from suppliers.catalog import states
from suppliers.catalog.fields import PatternField, refuse_repeated

VALUES_MAX = 200

ATTRIBUTE_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")


@extend_schema_field({"type": ["string", "number", "boolean"]})
class ScalarField(serializers.Field[Any, Any, Any, Any]):
    """A text, a number or a boolean."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, Decimal):
            return self._number(data)
        if isinstance(data, str) and 0 < len(data.strip()) <= 2000:
            return data.strip()
        if isinstance(data, bool | int):
            return data
        raise serializers.ValidationError("A text of 1 to 2000 characters, a number or a boolean.", code="invalid")

    def _number(self, data: Decimal) -> float:
        found = float(data)
        if Decimal(repr(found)) != data:
            raise serializers.ValidationError("Send a number of more than 15 digits as text.", code="max_digits")
        return found

    def to_representation(self, value: Any) -> Any:
        return value


class AttributeIn(StrictSerializer):
    """The value of one attribute, at most one for each locale."""

    code = PatternField(ATTRIBUTE_CODE, "an attribute's code")
    value = ScalarField()
    unit = serializers.CharField(max_length=20, required=False, allow_null=True, default=None)
    locale = PatternField(_LOCALE, "a language tag", max_length=35, required=False, allow_null=True, default=None)
    source = serializers.ChoiceField(choices=states.AttributeSource.choices, default=states.AttributeSource.SUPPLIER)  # type: ignore[assignment]

    class Meta:
        example: ClassVar = {"code": "colour", "value": "blue", "unit": None, "locale": "en"}


def check_values(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Require one value at most for each code and locale.

    :raises ValidationError: `duplicate`, at the second value.
    """
    refuse_repeated(values, ("code", "locale"), "The attribute is given twice for one locale.")
    return values


class ProductAttributesIn(StrictSerializer):
    """All attribute values of a product; what the list leaves out ends."""

    values: serializers.ListSerializer[Any] = serializers.ListSerializer(child=AttributeIn(), max_length=VALUES_MAX)

    class Meta:
        example: ClassVar = {"values": [AttributeIn.Meta.example]}

    def validate_values(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return check_values(value)
