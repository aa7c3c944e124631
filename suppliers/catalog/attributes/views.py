"""HTTP of attribute definitions; the values of one product are in `catalog.views`."""

from api.operations import Operation
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet

from .filters import AttributeFilters
from .representations import AttributeDefinitionOut


class AttributeViewSet(ApiViewSet):
    """The attributes that products can have."""

    family = "supplier"
    scope_prefix = "catalog:"
    tenant_kind = "supplier"
    serializer_class = AttributeDefinitionOut
    filterset_class = AttributeFilters
    ordering_fields = (*ORDERING_FIELDS, "code", "name")
    ordering = "code"
    operations = {
        "list": Operation(
            "List attributes",
            "What the platform's staff have defined: type, unit, choices, and for which categories a value is required.",
        ),
    }
