"""Fields that the bodies of a supplier share: countries, currencies, texts that may be left out, and entries of lists."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers
from rest_framework.fields import empty

from api.serializers import CurrencyField, StrictSerializer, form, refusal
from core.countries import COUNTRIES

__all__ = ["CountryField", "CurrencyField", "WholeEntry", "entries", "refuse_twins", "text"]


class WholeEntry(StrictSerializer):
    """An object inside a PATCH: the object is replaced as a whole, so its own members are required as declared."""

    def run_validation(self, data: Any = empty) -> Any:
        """Check an object by a serializer of its own, which is not partial."""
        if self.parent is None or not isinstance(data, dict):
            return super().run_validation(data)
        return form(type(self)).run_validation(data)


class CountryField(serializers.CharField):
    """A country of ISO 3166-1 alpha-2, officially assigned."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=2, **more)

    def to_internal_value(self, data: Any) -> str:
        code: str = super().to_internal_value(data)
        if code not in COUNTRIES:
            raise serializers.ValidationError("This is no country code of ISO 3166-1.", code="invalid_choice")
        return code


def text(length: int) -> serializers.CharField:
    """Return a text that may be left out; null and the empty text say that there is none."""
    return serializers.CharField(max_length=length, required=False, allow_null=True, allow_blank=True, default="")


def entries(child: serializers.Field[Any, Any, Any, Any], most: int) -> Any:
    """Return a list that a PATCH may leave out, and else replaces."""
    return serializers.ListSerializer(child=child, max_length=most, required=False)


def refuse_twins(found: Sequence[dict[str, Any]], names: tuple[str, ...], message: str) -> None:
    """Refuse entries of a list that agree in all of `names`, each but the first at the last of these members.

    :raises ValidationError: with the code `duplicate`.
    """
    seen: set[tuple[Any, ...]] = set()
    faults: list[Any] = []
    for entry in found:
        key = tuple(entry[name] for name in names)
        faults.append(refusal(names[-1], message, "duplicate").detail if key in seen else {})
        seen.add(key)
    if any(faults):
        raise serializers.ValidationError(faults)
