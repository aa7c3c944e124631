"""The time in which a row counts, stated once for queries, for SQL text and for a row in hand."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q


@dataclass(frozen=True, slots=True)
class Validity:
    """From the moments in `begins` on, and before each of those in `ends`; a column without a value sets no bound."""

    ends: tuple[str, ...]
    begins: tuple[str, ...] = ()

    def holds_at(self, at: datetime) -> Q:
        """The condition of a query on the rows that count at a moment."""
        found = Q()
        for name in self.begins:
            found &= Q(**{name: None}) | Q(**{f"{name}__lte": at})
        for name in self.ends:
            found &= Q(**{name: None}) | Q(**{f"{name}__gt": at})
        return found

    def holds_now(self, alias: str) -> str:
        """The condition in SQL on the rows of a table that count at the statement's time."""
        begun = [f"({alias}.{name} IS NULL OR {alias}.{name} <= now())" for name in self.begins]
        not_over = [f"({alias}.{name} IS NULL OR {alias}.{name} > now())" for name in self.ends]
        return f"({' AND '.join([*begun, *not_over])})"

    def of(self, row: Any, at: datetime) -> bool:
        """Tell whether a row counts at a moment."""
        begun = all(getattr(row, name) is None or getattr(row, name) <= at for name in self.begins)
        return begun and all(getattr(row, name) is None or getattr(row, name) > at for name in self.ends)
