"""Medications as clients read them: the platform's table and the tenant's own as one."""

from rest_framework import serializers

from api.representations import Computed, OpenChoice, Representation
from core.conditions import TENANT

from .models import TenantMedication
from .systems import BY_NAME

_COLUMNS = (
    "id, {tenant} AS tenant_id, system, code, display, display_sort, ingredients, classes, form, strength, unit, schedule,"
    " version, {source} || '-' || version AS tag, created_at, updated_at, {source} AS source"
)
# Each side is a plain table, so that PostgreSQL merges both by their indexes; what is hidden is a condition on the whole.
_ROWS = f"""(
SELECT {_COLUMNS.format(tenant="tenant_id", source="'tenant'")}, false AS demonstration FROM prescriptions_tenantmedication
UNION ALL
SELECT {_COLUMNS.format(tenant=f"{TENANT}::uuid", source="'platform'")}, demonstration FROM prescriptions_platformmedication)"""
_VISIBLE = (
    "(t.source = 'tenant' OR NOT EXISTS (SELECT 1 FROM prescriptions_tenantmedication o"
    f" WHERE o.tenant_id = {TENANT} AND o.system = t.system AND o.code = t.code))"
)
_NAMED = " ".join(f"WHEN t.system = '{uri}' THEN '{name}'" for name, uri in BY_NAME.items())
_INGREDIENTS = (
    "SELECT coalesce(json_agg(json_build_object('code', i.name, 'display', upper(left(i.name, 1)) || substr(i.name, 2))"
    " ORDER BY i.place), '[]') FROM unnest(t.ingredients) WITH ORDINALITY i(name, place)"
)


class IngredientOut(serializers.Serializer[None]):
    """An ingredient; the tables of interactions, doses and allergies name it by its code."""

    code = serializers.CharField()
    display = serializers.CharField()


class MedicationOut(Representation):
    """A medication of the tenant's table, or of the platform's where the tenant has no row of that code."""

    system_name = Computed(
        f"CASE {_NAMED} END",
        OpenChoice(choices=tuple(BY_NAME), allow_null=True, help_text="The short name of `system`, if it has one."),
    )
    ingredients = Computed(_INGREDIENTS, IngredientOut(many=True))
    source = Computed("t.source", OpenChoice(choices=("platform", "tenant")))  # type: ignore[assignment]  # a member
    demonstration = Computed(
        "t.demonstration", serializers.BooleanField(help_text="The row is for demonstration, not for clinical use.")
    )

    class Meta:
        model = TenantMedication
        rows = _ROWS
        where = _VISIBLE
        tenant_column = "tenant_id"
        version = "tag"  # of two rows with the same number one may hide the other
        fields = (
            "system", "system_name", "code", "display", "ingredients", "classes", "form", "strength", "unit", "schedule",
            "source", "version", "demonstration",
        )  # fmt: skip
        blank_as_null = ("form", "strength", "unit")
        example = {
            "system": BY_NAME["rxnorm"],
            "system_name": "rxnorm",
            "code": "1049221",
            "display": "Acetaminophen 325 MG / oxyCODONE Hydrochloride 5 MG Oral Tablet",
            "ingredients": [
                {"code": "acetaminophen", "display": "Acetaminophen"},
                {"code": "oxycodone", "display": "Oxycodone"},
            ],
            "classes": ["analgesics", "opioids"],
            "form": "oral tablet",
            "strength": "325/5",
            "unit": "mg",
            "schedule": "II",
            "source": "platform",
            "version": 1,
            "demonstration": True,
        }
