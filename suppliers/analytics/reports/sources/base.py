"""What a type of report reads: its columns, and the SQL of its rows as of one time.

The parameters of the SQL are $1 the tenant, $2 the time of the report, $3 the key behind which a batch begins, $4 how many
keys a batch has (null for all), $5 the parameters of the report as JSON; `begin` and `end` among them are instants.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from core.pipeline import Statement

NIL: Final = "00000000-0000-0000-0000-000000000000"
AS_OF: Final = "$2::timestamptz"
_INSTANT: Final = "to_char({0} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"


class Kind(Enum):
    """What the values of a column are: texts, whole numbers, or amounts as decimal texts."""

    TEXT = "text"
    NUMBER = "number"
    AMOUNT = "amount"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a report: its name and the SQL of its values."""

    name: str
    sql: str
    kind: Kind = Kind.TEXT


def text(name: str, sql: str) -> Column:
    """Return a column of texts; an empty one is null."""
    return Column(name, f"nullif({sql}, '')")


def instant(name: str, sql: str) -> Column:
    """Return a column of instants."""
    return Column(name, _INSTANT.format(sql))


def number(name: str, sql: str) -> Column:
    """Return a column of whole numbers."""
    return Column(name, sql, Kind.NUMBER)


def amount(name: str, sql: str) -> Column:
    """Return a column of amounts."""
    return Column(name, sql, Kind.AMOUNT)


def given(name: str, cast: str = "") -> str:
    """Return the SQL of a parameter of the report, null where it is not given."""
    return f"($5::jsonb ->> '{name}'){f'::{cast}' if cast else ''}"


def equals(sql: str, name: str, cast: str = "") -> str:
    """Return the condition that a value is that of a parameter, where it is given."""
    return f"({given(name)} IS NULL OR {sql} = {given(name, cast)})"


def among(sql: str, name: str) -> str:
    """Return the condition that a text is in the list of a parameter, where it is given."""
    return f"({given(name)} IS NULL OR $5::jsonb -> '{name}' ? {sql})"


def between(sql: str) -> str:
    """Return the condition that an instant lies in the period of the report; its end is not part of it."""
    return (
        f"({given('begin')} IS NULL OR {sql} >= {given('begin', 'timestamptz')})"
        f" AND ({given('end')} IS NULL OR {sql} < {given('end', 'timestamptz')})"
    )


@dataclass(frozen=True)
class Source:
    """A type of report.

    `page` selects the next keys, with a column `key` and all that `rows` needs, in `order`; `rows` is the FROM clause over
    the page `p`, and `row_order` the order of its rows. Without a page all rows are read by one statement: what keeps no
    history is as of one time that way alone.
    """

    columns: tuple[Column, ...]
    rows: str
    row_order: str
    page: str = ""
    order: str = ""
    first: str = NIL
    keys: int = 5_000

    batch: Statement = field(init=False)
    count: Statement = field(init=False)
    snapshot: Statement = field(init=False)

    def __post_init__(self) -> None:
        """Compose the statements of this type."""
        if self.is_whole:
            object.__setattr__(self, "snapshot", Statement.of(self._snapshot()))
        else:
            object.__setattr__(self, "batch", Statement.of(self._batch()))
            count = f"WITH page AS ({self.page}) SELECT count(*) FROM {self.rows}"
            object.__setattr__(self, "count", Statement.of(count))

    @property
    def is_whole(self) -> bool:
        """Tell whether one statement reads all rows."""
        return not self.page

    def _batch(self) -> str:
        """Write the statement that keeps the rows of the next batch as part $7 of the report $6 at $8."""
        return (
            f"WITH page AS MATERIALIZED ({self.page}), lines AS MATERIALIZED ({self._lines}), kept AS ({_KEEP}"
            " SELECT uuidv7(), $1::uuid, $8::timestamptz, $8::timestamptz, 1, $6::uuid, $7::int,"
            " string_agg(l.line, E'\\n' ORDER BY l.n) FROM lines l HAVING count(*) > 0 RETURNING 1)"
            " SELECT (SELECT count(*) FROM page), (SELECT count(*) FROM lines), (SELECT count(*) FROM kept),"
            f" (SELECT p.key FROM page p ORDER BY {self.order} DESC LIMIT 1)"
        )

    def _snapshot(self) -> str:
        """Write the statement that keeps all rows of the report $6 at $8, $7 in each part."""
        return (
            f"WITH lines AS MATERIALIZED ({self._lines}), kept AS ({_KEEP}"
            " SELECT uuidv7(), $1::uuid, $8::timestamptz, $8::timestamptz, 1, $6::uuid, ((l.n - 1) / $7::int + 1)::int,"
            " string_agg(l.line, E'\\n' ORDER BY l.n) FROM lines l GROUP BY (l.n - 1) / $7::int RETURNING 1)"
            " SELECT (SELECT count(*) FROM lines), (SELECT count(*) FROM kept)"
            " WHERE $3::text IS NULL AND $4::bigint IS NULL"
        )

    @property
    def _lines(self) -> str:
        values = ", ".join(one.sql for one in self.columns)
        return (
            f"SELECT row_number() OVER (ORDER BY {self.row_order}) AS n, json_build_array({values})::text AS line"
            f" FROM {self.rows}"
        )


_KEEP: Final = (
    "INSERT INTO suppliers_reportpart (id, tenant_id, created_at, updated_at, version, report_id, number, content)"
)
PRODUCT: Final = "JOIN suppliers_product x ON x.tenant_id = $1 AND x.id = {0}.product_id"
LOCATION: Final = "LEFT JOIN organizations_location w ON w.tenant_id = $1 AND w.id = {0}.location_id"
