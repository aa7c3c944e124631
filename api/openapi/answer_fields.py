"""Schemas of the platform's own serializer fields; drf-spectacular finds these classes by itself."""

from typing import Any

from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers

Schema = dict[str, Any]


class ComputedSchema(OpenApiSerializerFieldExtension):
    """Describes a computed member by the form of its value."""

    target_class = "api.representations.Computed"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> Schema:
        """Map the form."""
        return _of_form(auto_schema, self.target.form, direction)


class DocumentSchema(OpenApiSerializerFieldExtension):
    """Describes a JSON column by its form; without a form it is any object."""

    target_class = "api.representations.Document"

    def map_serializer_field(self, auto_schema: AutoSchema, direction: Any) -> Schema:
        """Map the form."""
        if self.target.form is None:
            return {"type": "object", "additionalProperties": True}
        return _of_form(auto_schema, self.target.form, direction)


def _of_form(auto_schema: AutoSchema, form: Any, direction: Any) -> Schema:
    if isinstance(form, serializers.ListSerializer):
        child: Any = form.child
        return {"type": "array", "items": auto_schema.resolve_serializer(child, direction).ref}
    if isinstance(form, serializers.Serializer):
        found: Schema = auto_schema.resolve_serializer(form, direction).ref
        return found
    mapped: Schema = auto_schema._map_serializer_field(form, direction)
    return mapped
