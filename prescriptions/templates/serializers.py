"""Bodies of templates: items as in a prescription, of which quantity and dosage may be left open."""

from typing import Any, ClassVar

from rest_framework import serializers

from api.serializers import StrictSerializer
from prescriptions.prescribing.serializers import (
    MOST_DOSAGES,
    MOST_ITEMS,
    DosageIn,
    ItemIn,
    QuantityIn,
    many,
    optional_text,
    refusal,
)
from prescriptions.states import Visibility


class TemplateItemIn(ItemIn):
    """One medication of a template; a draft needs the quantity and the dosage that are left open here."""

    dosage = many(DosageIn, required=False, default=list, max_length=MOST_DOSAGES)
    quantity = QuantityIn(required=False, allow_null=True, default=None)


class TemplateIn(StrictSerializer):
    """A template as its owner writes it."""

    name = serializers.CharField(max_length=120)
    description = optional_text(1000)
    visibility = serializers.ChoiceField(choices=Visibility.choices, default=Visibility.PRIVATE)
    location_id = serializers.UUIDField(required=False, allow_null=True, default=None)
    specialty = optional_text(120)
    items = many(TemplateItemIn, min_length=1, max_length=MOST_ITEMS)
    default_notes = optional_text(1000)

    class Meta:
        example: ClassVar = {"name": "Sore throat", "visibility": "tenant", "items": [ItemIn.Meta.example]}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Demand a location of a template that is shown to a location."""
        if attrs["visibility"] == Visibility.LOCATION and attrs["location_id"] is None:
            raise refusal("location_id", "A template of a location names it.", "required")
        return attrs
