"""Columns of a kind that Django does not have: the least quantities of a line as ranges, for the exclusion constraint."""

from collections.abc import Iterable
from typing import Any

from django.db import models


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
