"""What else holds a file as evidence, beside its bindings: rooms above this one say so, such as the licences of a supplier.

hold_as_evidence("license", "SELECT 1 FROM suppliers_supplierlicense l WHERE l.tenant_id = $1 AND l.file_id = $2")
"""

from functools import cache
from typing import Final

from core.pipeline import Call, Statement, run

from .models import File

_HOLDERS: Final[dict[str, str]] = {}


def hold_as_evidence(name: str, sql: str) -> None:
    """Register a kind of row that holds files as evidence: SQL that finds one, of the tenant $1, for the file $2."""
    _HOLDERS[name] = sql
    _statement.cache_clear()


def holders_of(file: File) -> list[str]:
    """Return the names of the kinds of rows that hold a file as evidence."""
    if not _HOLDERS:
        return []
    (found,) = run([Call(_statement(), [str(file.tenant_id), str(file.id)])])
    return [name for name, held in zip(_HOLDERS, found.row(), strict=True) if held == b"t"]


@cache
def _statement() -> Statement:
    return Statement.of("SELECT " + ", ".join(f"EXISTS ({sql})" for sql in _HOLDERS.values()))
