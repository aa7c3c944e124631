"""Columns of a kind that Django does not have: quantities as ranges for the exclusion constraint, and what PostgreSQL computes."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models.expressions import RawSQL

from .states import NOBODY, TOLD_DAYS

SUBJECT = "coalesce(product_id, md5('category ' || category)::uuid)"
PACKAGING = f"coalesce(packaging_id, '{NOBODY}'::uuid)"
# What two lines must not have in common on one day for one quantity; none of it is null.
SLOT = (
    "md5(tenant_id::text || ' ' || scope_id::text || ' ' || group_code || ' ' || supplier_tenant_id::text || ' '"
    f" || ({SUBJECT})::text || ' ' || ({PACKAGING})::text || ' ' || currency)::uuid"
)
DUE_ON = (
    f"CASE WHEN expiring_at IS NULL AND terminates_on IS NULL THEN valid_to - {TOLD_DAYS}"
    " ELSE least(valid_to, terminates_on) END"
)


def generated(sql: str, field: "models.Field[Any, Any]") -> models.GeneratedField:
    """Return a column that PostgreSQL computes from the row's own columns."""
    return models.GeneratedField(
        expression=RawSQL(sql, []),  # noqa: S611  # nosec B611 - a constant without parameters
        output_field=field,
        db_persist=True,
    )


class QuantitiesField(models.TextField):  # type: ignore[type-arg]
    """An int8multirange of single numbers, written and read as PostgreSQL's text."""

    def db_type(self, connection: Any) -> str:
        """The type in PostgreSQL."""
        return "int8multirange"

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        """Return the text; PostgreSQL reads it."""
        return value

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """Return the text of what psycopg has read."""
        return value if value is None or isinstance(value, str) else quantities([one.lower for one in value])


def quantities(least: Iterable[int]) -> str:
    """Write the least quantities of the tiers of a line."""
    return "{" + ",".join(f"[{one},{one + 1})" for one in sorted(least)) + "}"
