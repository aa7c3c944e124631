"""Periods of validity, declared once and checked in querysets, in SQL and on loaded rows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Validity:
    """Valid from every time in `begins` (inclusive) until any time in `ends` (exclusive); NULL sets no limit.

    Both name columns of the table.
    """

    ends: tuple[str, ...]
    begins: tuple[str, ...] = ()

    def holds_at(self, at: datetime) -> Q:
        """Return the condition of a queryset on the rows that are valid at an instant."""
        found = Q()
        for name in self.begins:
            found &= Q(**{name: None}) | Q(**{f"{name}__lte": at})
        for name in self.ends:
            found &= Q(**{name: None}) | Q(**{f"{name}__gt": at})
        return found

    def holds_now(self, alias: str) -> str:
        """Return the SQL condition on the rows of a table that are valid at the start of the transaction (`now()`)."""
        begun = [f"({alias}.{name} IS NULL OR {alias}.{name} <= now())" for name in self.begins]
        not_over = [f"({alias}.{name} IS NULL OR {alias}.{name} > now())" for name in self.ends]
        return f"({' AND '.join([*begun, *not_over])})"

    def of(self, row: Any, at: datetime) -> bool:
        """Tell whether a row is valid at an instant."""
        begun = all(getattr(row, name) is None or getattr(row, name) <= at for name in self.begins)
        return begun and all(getattr(row, name) is None or getattr(row, name) > at for name in self.ends)
