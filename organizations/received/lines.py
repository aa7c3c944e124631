"""The index of the lines of received copies, written from the copy's own `lines`."""

from dataclasses import dataclass
from uuid import UUID

from core.pipeline import Call, Statement

from .documents import ReceivedLine

_OWN = ("tenant_id", "document_id")


@dataclass(frozen=True, slots=True)
class LineIndex:
    """The statements of one table of lines; $1 is the reader's tenant, $2 the document, $3 the lines as JSON.

    `written` locks no row that stays as it is: most changes of a document leave the index alone.
    """

    written: Statement
    differing: Statement

    @classmethod
    def of(cls, line: type[ReceivedLine]) -> "LineIndex":
        """Write the statements for a table."""
        table = line._meta.db_table
        names = [f'"{field.column}"' for field in line._meta.concrete_fields if field.column not in _OWN]
        compared = [name for name in names if name != '"id"']
        counters = [f'"{name}"' for name in line.counters]
        changing = [name for name in compared if name not in counters]
        given = f'jsonb_populate_recordset(NULL::"{table}", $3::jsonb)'
        own = "tenant_id = $1 AND document_id = $2"
        listed = ", ".join(names)
        old = ", ".join(f"l.{name}" for name in changing)
        new = ", ".join(f"EXCLUDED.{name}" for name in changing)
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in changing)
        wished = ", ".join(f"wanted.{name}" for name in changing)
        stored, wanted = f'SELECT {listed} FROM "{table}" WHERE {own}', f"SELECT {listed} FROM {given}"
        return cls(
            written=Statement.of(
                f"WITH wanted AS MATERIALIZED ({wanted}), removed AS ("
                f'DELETE FROM "{table}" WHERE {own} AND id NOT IN (SELECT id FROM wanted))'
                f' INSERT INTO "{table}" AS l (tenant_id, document_id, {listed}) SELECT $1::uuid, $2::uuid, {listed}'
                f' FROM wanted WHERE (SELECT ({old}) IS NOT DISTINCT FROM ({wished}) FROM "{table}" l'
                f" WHERE l.tenant_id = $1 AND l.id = wanted.id) IS NOT TRUE"
                f" ON CONFLICT (tenant_id, id) DO UPDATE SET {changes}"
                f" WHERE ({old}) IS DISTINCT FROM ({new}) RETURNING 1"
            ),
            differing=Statement.of(
                f"SELECT 1 FROM (({stored} EXCEPT {wanted}) UNION ALL ({wanted} EXCEPT {stored})) differences LIMIT 1"
            ),
        )

    def write_calls(self, tenant_id: UUID, document_id: UUID, lines: bytes | None) -> list[Call]:
        """Return the statement that makes the index say what the lines say, bound to the reader."""
        return [Call(self.written, _parameters(tenant_id, document_id, lines))]

    def differing_call(self, tenant_id: UUID, document_id: UUID, lines: bytes | None) -> Call:
        """Return the statement that answers a row if the index says something else than the lines, bound to the reader."""
        return Call(self.differing, _parameters(tenant_id, document_id, lines))


def _parameters(tenant_id: UUID, document_id: UUID, lines: bytes | None) -> list[str | bytes]:
    return [str(tenant_id), str(document_id), lines or b"[]"]
