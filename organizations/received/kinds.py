"""Types of documents of two parties, and the SQL by which the copies of each are computed, read and written."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from django.db import connection, models

from core.pipeline import Statement
from core.row_security import security_of

from .documents import ReceivedDocument, ReceivedLine
from .lines import LineIndex

_LARGE = ("representation", "lines")
_TIMES = ("received_at", "updated_at")


@dataclass(frozen=True, eq=False, kw_only=True)
class ReceivedKind:
    """One type of document: the owner's table, the table of the copies, and how a copy is computed.

    In all SQL `t` is the owner's row. `party` is the tenant of the other party. `handed_over` holds from the moment at
    which the other party knows the document. `version` is the owner's column that counts what the other party sees.
    `lines` names the member of the representation that stands in a column of its own; `line` is the table of its index,
    if there is one; with `lines_apart` the lines stand in that table alone, because there are thousands. `columns` gives
    further columns of the copy, or other SQL for `number` and `status`. `joined` adds tables to `t`, where a document has
    been handed to several parties; it names the tenant as $2. `emptied` holds once a party is to know nothing more of the document: its
    copy stays, without a representation. `register_received` gives the representation.
    """

    document: type[models.Model]
    copy: type[ReceivedDocument]
    party: str
    handed_over: str
    lines: str = ""
    line: type[ReceivedLine] | None = None
    lines_apart: bool = False
    version: str = "shared_version"
    columns: Mapping[str, str] = field(default_factory=dict)
    joined: str = ""
    emptied: str = ""

    @property
    def name(self) -> str:
        """What a person calls the document."""
        return str(self.document._meta.verbose_name)

    @property
    def representation(self) -> str:
        """The SQL of what the other party may see.

        :raises LookupError: the type is not registered; a programming error.
        """
        if self not in _kinds:
            raise LookupError(f"{self.copy.__name__} is not registered")
        return _kinds[self]

    @cached_property
    def values(self) -> dict[str, str]:
        """The SQL of each column of the copy, but for its times."""
        body = self._body
        return {
            "id": 't."id"',
            "tenant_id": self.party,
            "owner_tenant_id": f't."{self.tenant_column}"',
            "number": 't."number"',
            "status": 't."status"',
            "version": f't."{self.version}"',
            **self.columns,
            "representation": f"({body} - '{self.lines}')" if self.lines else body,
            "lines": f"({body} -> '{self.lines}')" if self.lines and not self.lines_apart else "NULL",
        }

    @property
    def _body(self) -> str:
        """The SQL of what the other party may see, lines and all."""
        shown = "shown.body"
        return f"CASE WHEN {self.emptied} THEN '{{}}'::jsonb ELSE {shown} END" if self.emptied else shown

    @property
    def _apart(self) -> str:
        """The SQL of lines that the copy itself does not hold."""
        return f"({self._body} -> '{self.lines}')" if self.lines_apart else "NULL"

    @cached_property
    def index(self) -> LineIndex | None:
        """The statements of the index of the lines; None without an index."""
        return LineIndex.of(self.line) if self.line else None

    @property
    def tenant_column(self) -> str:
        """The column of the owner in its table."""
        return str(security_of(self.document).tenant_column)

    @cached_property
    def computed(self) -> Statement:
        """Bound to the owner: the copies of document $1 of tenant $2 as texts, lines apart, the state of each reader's tenant."""
        values = ", ".join(f'({sql})::text AS "{name}"' for name, sql in self.values.items())
        return Statement.of(
            f"SELECT {values}, {self._apart}::text AS lines_apart, n.status AS tenant_status"
            # OFFSET 0: written and read once, though the lines are cut out of it.
            f" FROM (SELECT made.body::jsonb FROM ({self.representation}) AS made(body, tag) OFFSET 0) AS shown(body)"
            f" CROSS JOIN {self._parties} ORDER BY 2"
        )

    @cached_property
    def computed_all(self) -> Statement:
        """Bound to the owner: the copies of documents $1 (an array) of tenant $2, each as `computed` answers it."""
        one = re.sub(r"\$1(?!\d)", "wanted.id", self.computed.sql.decode())
        return Statement.of(
            f"SELECT found.* FROM unnest($1::uuid[]) AS wanted (id) CROSS JOIN LATERAL ({one}) AS found"
        )

    @cached_property
    def parties(self) -> Statement:
        """Bound to the owner: the tenants that document $1 of tenant $2 was handed to."""
        return Statement.of(f"SELECT ({self.party})::text AS tenant_id FROM {self._parties} ORDER BY 1")

    @cached_property
    def located(self) -> Statement:
        """Bound to the caller's tenant $2: the owner of document $1, by the own row or by the received copy."""
        own, copies = self.document._meta.db_table, self.copy._meta.db_table
        return Statement.of(
            f'SELECT t."{self.tenant_column}"::text AS owner FROM "{own}" t WHERE t."{self.tenant_column}" = $2 AND t."id" = $1'
            f' UNION ALL SELECT c.owner_tenant_id::text FROM "{copies}" c WHERE c.tenant_id = $2 AND c.id = $1 LIMIT 1'
        )

    @cached_property
    def stored(self) -> Statement:
        """Bound to the reader's tenant $2: the copy of document $1, as the texts of `computed`."""
        names = ", ".join(f'"{name}"::text' for name in self.values)
        return Statement.of(f'SELECT {names} FROM "{self.copy._meta.db_table}" WHERE tenant_id = $2 AND id = $1')

    @cached_property
    def written(self) -> Statement:
        """Bound to the reader's tenant: write the values of `computed`, and the time, or a later one; a row comes back if it differed.

        The time of the last change is not before the mark of the write in the reader's tenant, see `core.watermark`.
        """
        table, names, count = self.copy._meta.db_table, [*self.values], len(self.values)
        places = ", ".join(f"${number}" for number in range(1, count + 1))
        compared = [name for name in names if name not in ("id", "tenant_id")]
        changes = ", ".join(f'"{name}" = {_changed(name)}' for name in compared)
        old = ", ".join(f'c."{name}"' for name in compared)
        new = ", ".join(f'EXCLUDED."{name}"' for name in compared)
        return Statement.of(
            f'INSERT INTO "{table}" AS c ({", ".join([*names, *_TIMES])}) VALUES ({places}, ${count + 1}, {_marked(f"${count + 1}::timestamptz")})'
            f" ON CONFLICT (tenant_id, id) DO UPDATE SET {changes}, updated_at = EXCLUDED.updated_at"
            f" WHERE ({old}) IS DISTINCT FROM ({new}) RETURNING 1"
        )

    @cached_property
    def written_all(self) -> Statement:
        """Bound to the reader's tenant: write several copies as `written` does; each parameter is a column's array of texts."""
        names = [*self.values, _TIMES[0]]
        arrays = ", ".join(f"${number}::text[]" for number in range(1, len(names) + 1))
        shown = [f'given."{name}"::{self._type(name)}' for name in names]
        source = f"SELECT {', '.join([*shown, _marked(shown[-1])])} FROM unnest({arrays}) AS given ({', '.join(names)})"
        one = self.written.sql.decode()
        return Statement.of(re.sub(r"VALUES \(.+\)(?= ON CONFLICT)", lambda _: source, one))

    @cached_property
    def dated(self) -> Statement:
        """Bound to the reader's tenant $1: let copies $2 (an array) be as old as $3 (an array of instants) says."""
        return Statement.of(
            f'UPDATE "{self.copy._meta.db_table}" c SET received_at = given.at'
            " FROM unnest($2::uuid[], $3::timestamptz[]) AS given (id, at)"
            " WHERE c.tenant_id = $1 AND c.id = given.id RETURNING 1"
        )

    def _type(self, column: str) -> str:
        """The type of a column of the copies in PostgreSQL."""
        field = next(one for one in self.copy._meta.concrete_fields if one.column == column)
        return str(field.db_type(connection))

    @cached_property
    def walked(self) -> Statement:
        """Bound to the owner $1: the ids of some documents after $2."""
        column = self.tenant_column
        return Statement.of(
            f'SELECT t."id"::text FROM "{self.document._meta.db_table}" t'
            f' WHERE t."{column}" = $1 AND t."id" > $2 ORDER BY t."id" LIMIT $3'
        )

    @cached_property
    def held(self) -> Statement:
        """Bound to the reader $1: owners and ids of some copies after $2 whose owner is not closed."""
        return Statement.of(
            f'SELECT c.owner_tenant_id::text, c.id::text, n.status FROM "{self.copy._meta.db_table}" c'
            " JOIN organizations_tenant n ON n.id = c.owner_tenant_id"
            " WHERE c.tenant_id = $1 AND c.id > $2 ORDER BY c.id LIMIT $3"
        )

    @property
    def _parties(self) -> str:
        """The document and the tenants that it was handed to. OFFSET 0: the document is found by its key, and its parties by it."""
        found = f'SELECT * FROM "{self.document._meta.db_table}" t WHERE t."{self.tenant_column}" = $2 AND t."id" = $1 OFFSET 0'
        return (
            f"({found}) t {self.joined} JOIN organizations_tenant n ON n.id = ({self.party}) WHERE {self.handed_over}"
        )


def _marked(at: str) -> str:
    """The time of a copy's change: `at`, unless the write was marked in the reader's tenant only later."""
    return f"greatest({at}, clock_timestamp())"


def _changed(name: str) -> str:
    """Keep a large value that is the same, so that PostgreSQL does not store it anew."""
    if name not in _LARGE:
        return f'EXCLUDED."{name}"'
    return f'CASE WHEN c."{name}" IS DISTINCT FROM EXCLUDED."{name}" THEN EXCLUDED."{name}" ELSE c."{name}" END'


_kinds: dict[ReceivedKind, str] = {}


def register_received(kind: ReceivedKind, *, representation: str) -> None:
    """Register a type of document with the JSON that the other party may see.

    `representation` is a statement with the id as $1 and the owner's tenant as $2, whose first column is the JSON;
    `api.listing.representation` makes one.

    :raises ValueError: another type has these copies already.
    """
    if any(known.copy is kind.copy for known in _kinds if known is not kind):
        raise ValueError(f"two types of documents have the copies {kind.copy.__name__}")
    _kinds[kind] = representation


def received_kinds() -> list[ReceivedKind]:
    """Return all registered types, by the name of their table of copies."""
    return sorted(_kinds, key=lambda kind: kind.copy._meta.db_table)
