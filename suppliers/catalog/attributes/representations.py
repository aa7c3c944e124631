"""Attribute definitions, and the attribute values of a product, as clients read them."""

from typing import ClassVar

from rest_framework import serializers

from api.representations import Computed, OpenChoice, Representation
from core.conditions import TENANT
from suppliers.catalog.models import AttributeDefinition, Product
from suppliers.catalog.states import AttributeSource, AttributeType

from .serializers import AttributeIn, ScalarField

_TEXTS = serializers.ListField(child=serializers.CharField())
_ROWS = f"(SELECT d.*, {TENANT}::uuid AS tenant_id FROM suppliers_attributedefinition d WHERE d.active)"


class AttributeDefinitionOut(Representation):
    """What values an attribute takes; staff define attributes for every supplier."""

    allowed_values = Computed(
        "to_jsonb(t.allowed_values)",
        serializers.ListField(child=serializers.CharField(), help_text="The choices of the type enum."),
    )
    required_for = Computed(
        "to_jsonb(t.required_for)",
        serializers.ListField(
            child=serializers.CharField(),
            help_text="Codes of categories whose active products need a value, as do those of the categories below.",
        ),
    )

    class Meta:
        model = AttributeDefinition
        rows = _ROWS
        tenant_column = "tenant_id"
        fields = (
            "id", "code", "name", "type", "unit", "allowed_values", "required_for", "localizable", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("unit",)
        example: ClassVar = {"code": "mri_safety", "name": "MRI safety", "type": "enum", "allowed_values": ["safe"]}


class DefinitionOfValue(serializers.Serializer[None]):
    """The definition of an attribute, as far as a value needs it."""

    name = serializers.CharField()
    type = OpenChoice(choices=AttributeType.values)
    unit = serializers.CharField(allow_null=True)
    allowed_values = _TEXTS
    required_for = serializers.ListField(child=serializers.CharField())
    localizable = serializers.BooleanField()
    active = serializers.BooleanField(help_text="Whether new values of the attribute are accepted.")


class AttributeValueOut(serializers.Serializer[None]):
    """One attribute value with its definition and its source."""

    code = serializers.CharField()
    value = ScalarField()
    unit = serializers.CharField(allow_null=True, help_text="Of the value; without one, that of the definition holds.")
    locale = serializers.CharField(allow_null=True)
    source = OpenChoice(choices=AttributeSource.values)  # type: ignore[assignment]  # a member
    definition = DefinitionOfValue(allow_null=True)

    class Meta:
        example = AttributeIn.Meta.example


# In the order in which they were sent. A value from before its definition has none.
_VALUES = """coalesce((SELECT json_agg(json_build_object(
 'code', v.value -> 'code', 'value', v.value -> 'value', 'unit', v.value -> 'unit', 'locale', v.value -> 'locale',
 'source', v.value -> 'source', 'definition', CASE WHEN d.id IS NOT NULL THEN json_build_object(
  'name', d.name, 'type', d.type, 'unit', nullif(d.unit, ''), 'allowed_values', d.allowed_values,
  'required_for', d.required_for, 'localizable', d.localizable, 'active', d.active) END) ORDER BY v.ordinality)
 FROM jsonb_array_elements(t.attributes) WITH ORDINALITY v
 LEFT JOIN suppliers_attributedefinition d ON d.code = v.value ->> 'code'), '[]'::json)"""


class ProductAttributesOut(Representation):
    """The attribute values of a product with their definitions; `id` and `version` are the product's."""

    values = Computed(_VALUES, serializers.ListField(child=AttributeValueOut()))

    class Meta:
        model = Product
        fields = ("id", "supplier_sku", "category", "values", "updated_at", "version")
