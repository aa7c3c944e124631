"""Lists: filters, sort, fields, include and paging of one resource, compiled to one statement."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.http import QueryDict

from core.conditions import TENANT
from core.pipeline import Call, Statement

from .day_counts import MANY, DayCounts
from .filters import Condition, Filters, check_names, conditions
from .found_rows import Found, page_of
from .shapes import Selection, Shape, select
from .sorts import ORDERING_FIELDS, Sort, SortBy, UnknownSort, sort_of, tie_break

_REACH = re.compile(r"LIMIT (.+) OFFSET (.+)")
_USUAL = (20, 21, 51)  # the usual limits: 20 of page lists, 20 and 50 of cursor lists, which read one row more
CONTROL = ("fields", "include", "sort", "limit")


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """What a list of one representation offers: filters, sorts and the default order.

    `count` may hold cheaper SQL for the exact total of the unfiltered list within the view's `restriction`; the tenant is $1.
    `days` counts its rows by day.
    """

    shape: Shape
    filters: type[Filters] | None
    sorts: Mapping[str, Sort]
    default_sort: str
    count: str = ""
    days: DayCounts | None = None
    restriction: Condition | None = None

    @classmethod
    def of(
        cls,
        representation: Any,
        *,
        filterset_class: type[Filters] | None = None,
        ordering_fields: Sequence[str | SortBy] = ORDERING_FIELDS,
        ordering: str = "-created_at",
        count: str = "",
        days: DayCounts | None = None,
        restriction: Condition | None = None,
    ) -> "Listing":
        """Declare the list of a representation in DRF's terms.

        :raises ImproperlyConfigured: a sort names no column of the model.
        """
        shape: Shape = representation.shape
        sorts = dict(sort_of(shape, entry) for entry in ordering_fields)
        if ordering.removeprefix("-") not in sorts:
            raise ImproperlyConfigured(
                f"The default order {ordering} of {representation.__name__} is not among its sorts."
            )
        return cls(shape, filterset_class, sorts, ordering, count, days, restriction)

    def parameter_names(self, *paging: str) -> frozenset[str]:
        """Return every query parameter that the list knows."""
        return _parameter_names(self, paging)


@lru_cache(maxsize=512)
def _parameter_names(listing: Listing, paging: tuple[str, ...]) -> frozenset[str]:
    return frozenset({*CONTROL, *paging, *(listing.filters.base_filters if listing.filters else ())})


@dataclass(frozen=True, slots=True)
class Order:
    """A sort: `text` as the caller wrote it, `keys` with their direction and the id last, `sql` for ORDER BY."""

    text: str
    keys: tuple[tuple[Sort, bool], ...]
    sql: str

    @property
    def uniform(self) -> bool:
        """Tell whether all keys run in one direction; a row comparison then uses the index."""
        return len({down for _, down in self.keys}) == 1


@dataclass(frozen=True, slots=True)
class Query:
    """One request for a list, read and checked."""

    listing: Listing
    selection: Selection
    order: Order
    conditions: tuple[tuple[str, Condition], ...]
    extra: tuple[Condition, ...] = ()

    @property
    def filters_hash(self) -> str:
        """Digest of the filters; a cursor that was made for other filters is refused."""
        parts = [
            f"{name}={condition.parameters}" for name, condition in sorted(self.conditions, key=lambda pair: pair[0])
        ]
        return hashlib.sha256("&".join(parts).encode()).hexdigest()


@lru_cache(maxsize=2048)
def _text(sql: str) -> str:
    return sql.replace(TENANT, "$1")


def _statement(sql: str) -> Statement:
    """The statement of a text in which `TENANT` stands for the tenant's parameter, `$1`."""
    return Statement.composed(_text(sql))


def read_query(listing: Listing, query: QueryDict, *paging: str) -> Query:
    """Read the query string of a list.

    :raises UnknownParameter, DuplicateParameter, InvalidFields, UnknownField, UnknownInclude, UnknownSort: as named.
    """
    check_names(query, listing.parameter_names(*paging))
    return Query(
        listing=listing,
        selection=select(listing.shape, query.get("fields"), query.get("include")),
        order=order(listing, query.get("sort") or listing.default_sort),
        conditions=tuple(conditions(listing.filters, query)),
    )


@lru_cache(maxsize=2048)
def order(listing: Listing, text: str) -> Order:
    """Read `sort`: comma-separated names, `-` for descending.

    :raises UnknownSort: a name is unknown, there is none, or there are more than three; the refusal lists the names.
    """
    keys: list[tuple[Sort, bool]] = []
    for part in (piece.strip() for piece in text.split(",") if piece.strip()):
        found = listing.sorts.get(part.removeprefix("-"))
        if found is None or len(keys) >= 3:
            raise UnknownSort(f"Cannot sort by {part[:64]!r}.", allowed=sorted(listing.sorts))
        keys.append((found, part.startswith("-")))
    if not keys:
        raise UnknownSort("sort is empty.", allowed=sorted(listing.sorts))
    keys.append((tie_break(listing.shape), keys[-1][1]))
    sql = ", ".join(f't."{key.column}" {"DESC" if down else "ASC"}' for key, down in keys)
    return Order(text, tuple(keys), sql)


class _Builder:
    """Conditions and parameters of one statement; parameters are numbered in the order they are added."""

    def __init__(self, query: Query, tenant_id: UUID | None) -> None:
        self.query = query
        self.shape = query.listing.shape
        self.parameters: list[str] = []
        self.where: list[str] = []
        self.before: list[str] = []  # CTEs in front of the page's
        self.tenant = f't."{self.shape.tenant_column}" = $1' if self.shape.tenant_column else ""
        self.costly = (0, 0)  # of the condition that tells ids: its place in `where`, the number of its first parameter
        if self.tenant:
            self.add(Condition(f't."{self.shape.tenant_column}" = {{0}}', (str(tenant_id),)))
        if self.shape.where:
            self.where.append(self.shape.where)
        self.where += _otherwise(query)
        for condition in (*(pair[1] for pair in query.conditions), *query.extra):
            self.add(condition)

    @property
    def is_costly(self) -> bool:
        """Tell whether a condition is dear enough to find the rows of a plain table once for page and total."""
        conditions = (*(condition for _, condition in self.query.conditions), *self.query.extra)
        return not self.shape.rows and any(one.is_costly for one in conditions)

    def add(self, condition: Condition) -> None:
        """Add a condition, numbering its parameters."""
        if condition.ids:
            self.costly = len(self.where), len(self.parameters) + 1
        self.where.append(self.numbered(condition))

    def numbered(self, condition: Condition) -> str:
        """Return the SQL of a condition, numbering its parameters."""
        first = len(self.parameters) + 1
        self.parameters += condition.parameters
        return condition.sql.format(*(f"${first + n}" for n in range(len(condition.parameters))))

    def after(self, values: tuple[str | None, ...]) -> None:
        """Add the keyset condition: only rows that come after the position."""
        keys = self.query.order.keys
        names = []
        for (key, _), value in zip(keys, values, strict=True):
            self.parameters.append(str(value))
            names.append(f"${len(self.parameters)}::{key.cast}")
        if self.query.order.uniform:
            columns, sign = ", ".join(f't."{key.column}"' for key, _ in keys), "<" if keys[0][1] else ">"
            self.where.append(f"({columns}) {sign} ({', '.join(names)})")
            if getattr(self.shape.model, "partitioned", False):  # a row comparison alone prunes no partition
                self.where.append(f"{columns.partition(',')[0]} {sign}= {names[0]}")
            return
        sql = ""
        for (key, down), name in reversed(list(zip(keys, names, strict=True))):
            here = f't."{key.column}" {"<" if down else ">"} {name}'
            sql = f'({here} OR (t."{key.column}" = {name} AND {sql}))' if sql else here
        self.where.append(sql)

    def page(self, tail: str) -> str:
        """The CTE of the page's rows, behind those that it reads."""
        before = "".join(f"{one}, " for one in self.before)
        return f"{before}page AS ({self.keys_first(tail) if self.shape.branches else self.selected('*', tail)})"

    def selected(self, column: str, tail: str) -> str:
        """The SELECT of a column of the page's rows."""
        return f"SELECT t.{column} FROM {self.shape.table} t {self.clause()} ORDER BY {self.query.order.sql} {tail}"

    def keys_first(self, tail: str) -> str:
        """The SELECT of the page's rows of a union that finds their keys first, so that no other row is put together.

        Each table gives as many as the page reaches, in the order of its index. The version is compared so that it has to be
        read, since it is in no index: PostgreSQL would read all keys from another index otherwise, and sort them. For the same
        reason the reach is a parameter: the plan is then made for a part of the rows, and begins with the first of them.
        `OFFSET 0` keeps the second step from becoming a join with all rows.
        """
        key, order_by, reach = f'"{self.shape.key}"', self.query.order.sql, self.reach(tail)
        version = f'"{self.shape.version}"'
        found = " UNION ALL ".join(
            f"(SELECT {self.kept()}, t.{version} FROM ({one.sql}) t {self.clause()} ORDER BY {order_by} {reach})"
            for one in self.shape.branches
        )
        same = f"t.{key} = k.{key} AND t.{version} = k.{version}"
        return (
            f"SELECT p.* FROM (SELECT t.{key}, t.{version} FROM ({found}) t ORDER BY {order_by} {tail}) k CROSS JOIN LATERAL"
            f" (SELECT t.* FROM {self.shape.built} t WHERE {self.tenant} AND {same} OFFSET 0) p"
        )

    def reach(self, tail: str) -> str:
        """The LIMIT of rows that reach to the end of a page."""
        if "OFFSET" in tail:
            return _REACH.sub(r"LIMIT (\1) + (\2)", tail)
        self.parameters.append(tail.removeprefix("LIMIT "))
        return f"LIMIT ${len(self.parameters)}::bigint"

    def rows(self, tail: str) -> Call:
        """The statement for the page's rows: JSON text, the sort keys as text, and the shape's `whose`, if it has one."""
        query, columns = self.query, [key.column for key, _ in self.query.order.keys]
        keys = ", ".join(f't."{column}"::text' for column in (*columns, *filter(None, [self.shape.whose])))
        found = self.found(tail)
        sql = (
            f"WITH {found.page() if found else self.page(tail)} SELECT row_to_json(r)::text, {keys} FROM page t CROSS JOIN LATERAL "
            f"(SELECT {self.shape.select(query.selection)}) r ORDER BY {query.order.sql}"
        )
        return Call(_statement(sql), self.parameters)

    def rows_and_total(self, counting: str, tail: str) -> Call:
        """The statement for the page's rows and the exact total, from one snapshot.

        Each row holds the total and the JSON text. An empty page is one row whose JSON text is null.
        """
        select, order_by = self.shape.select(self.query.selection), self.query.order.sql
        sql = (
            f"WITH {self.page(tail)}, total AS (SELECT coalesce(({counting}), 0) AS n) "
            f'SELECT total.n::text, CASE WHEN t."{self.shape.key}" IS NOT NULL THEN row_to_json(r)::text END '
            f"FROM total LEFT JOIN page t ON true LEFT JOIN LATERAL (SELECT {select}) r ON true ORDER BY {order_by}"
        )
        return Call(_statement(sql), self.parameters)

    def found_once(self, tail: str) -> Call:
        """The same as `rows_and_total`; keys and sort keys of all rows that match are kept, so that they are found once.

        Where one condition alone narrows the list and tells the ids, many rows are not all fetched (`found_rows`).
        """
        select, order_by, key = self.shape.select(self.query.selection), self.query.order.sql, self.shape.key
        alone = len(self.query.conditions) == 1 and not self.query.extra
        found = self.found(tail)
        if found and alone:
            page = found.page()
        else:
            rows = (
                found.fetched(found.ids) if found else f"SELECT {self.kept()} FROM {self.shape.table} t {self.clause()}"
            )
            page = (
                f"matched AS MATERIALIZED ({rows}),"
                f" ordered AS (SELECT * FROM matched t ORDER BY {order_by} {tail}),"
                f" total AS (SELECT count(*) AS n FROM matched), {page_of(self.shape.table, key, self.tenant)}"
            )
        sql = (
            f'WITH {page} SELECT total.n::text, CASE WHEN t."{key}" IS NOT NULL THEN row_to_json(r)::text END'
            f" FROM total LEFT JOIN page t ON true LEFT JOIN LATERAL (SELECT {select}) r ON true ORDER BY {order_by}"
        )
        return Call(_statement(sql), self.parameters)

    def found(self, tail: str) -> Found | None:
        """The page by the filter that is costly, if it tells the ids of all rows that it finds and no other is costly."""
        one, *others = [pair[1] for pair in self.query.conditions if pair[1].is_costly] or [Condition("")]
        if not self.tenant or self.shape.rows or others or not one.ids:
            return None
        place, first = self.costly
        numbers = [f"${first + number}" for number in range(len(one.parameters))]
        sole = one.sole and one.sole.numbered(numbers)
        where = [*self.where[:place], *self.where[place + 1 :]]
        ids, order = one.ids.format(*numbers), self.query.order.sql
        return Found(self.shape.table, self.shape.key, self.kept(), ids, where, order, tail, sole)

    def kept(self) -> str:
        """The key and the sort keys of a row."""
        names = [self.shape.key, *(one.column for one, _ in self.query.order.keys)]
        return ", ".join(f't."{name}"' for name in dict.fromkeys(names))

    def limit(self, count: int, skipped: int = 0) -> str:
        """LIMIT and OFFSET. The default limits are constants: with parameters PostgreSQL would plan each execution."""
        if count in _USUAL and not skipped:
            return f"LIMIT {count}"
        self.parameters += [str(count), str(skipped)]
        return f"LIMIT ${len(self.parameters) - 1}::bigint OFFSET ${len(self.parameters)}::bigint"

    def clause(self) -> str:
        """The WHERE clause."""
        return "WHERE " + " AND ".join(self.where) if self.where else ""


def _otherwise(query: Query) -> list[str]:
    """The conditions that hold because their filters are not given; see `Filters`."""
    otherwise = query.listing.filters.otherwise if query.listing.filters else {}
    return [sql for name, sql in otherwise.items() if name not in dict(query.conditions)]


def page_call(query: Query, tenant_id: UUID | None, *, page: int, limit: int) -> Call:
    """The statement of a page list: its rows and the exact total."""
    builder = _Builder(query, tenant_id)
    if builder.is_costly:
        return builder.found_once(builder.limit(limit, (page - 1) * limit))
    is_whole = not query.conditions and all(one == query.listing.restriction for one in query.extra)
    counting = (is_whole and query.listing.count) or f"SELECT count(*) FROM {builder.shape.table} t {builder.clause()}"
    days = counts.days(query.conditions, query.extra) if (counts := query.listing.days) else None
    if counts is None or days is None:
        return builder.rows_and_total(counting, builder.limit(limit, (page - 1) * limit))
    of_day = [builder.numbered(one) for one in days]
    tail = _tail_by_days(builder, counts, of_day, (page - 1) * limit, limit)
    return builder.rows_and_total(counts.total(of_day, counting), tail)


def _tail_by_days(builder: _Builder, counts: DayCounts, days: Sequence[str], skipped: int, limit: int) -> str:
    """LIMIT and OFFSET of a page; one far behind the beginning is looked for in its day alone."""
    keys = builder.query.order.keys
    if skipped < MANY or len(keys) > 2 or keys[0][0].column != counts.column:
        return builder.limit(limit, skipped)
    builder.parameters += [str(limit), str(skipped)]
    number = len(builder.parameters)
    reach, down = builder.numbered(counts.reach), keys[0][1]
    where, order = [one for one in builder.where if one != reach], builder.query.order.sql
    builder.before.append(counts.place(days, f"${number}", down=down))
    builder.before.append(counts.mark(builder.shape.table, where, order, f"${number}", down=down))
    builder.where.append(counts.behind(down=down))
    return f"LIMIT ${number - 1}::bigint OFFSET {counts.offset(f'${number}')}"


def cursor_call(query: Query, tenant_id: UUID | None, *, after: tuple[str | None, ...] | None, limit: int) -> Call:
    """The statement of a cursor list; it reads one row beyond the limit, to know whether there is a next page."""
    builder = _Builder(query, tenant_id)
    if after is not None:
        builder.after(after)
    return builder.rows(builder.limit(limit + 1))


def one_call(
    shape: Shape, selection: Selection, tenant_id: UUID | None, key: str, extra: Condition | None = None
) -> Call:
    """The statement of a single object: JSON text and version."""
    parameters = [key, str(tenant_id)] if shape.tenant_column else [key]
    if extra is None:
        return Call(Statement.composed(_one(shape, selection)), parameters)
    sql = _one(shape, selection, extra.sql, len(extra.parameters))
    return Call(Statement.composed(sql), [*parameters, *extra.parameters])


def representation(shape: Shape) -> str:
    """The SQL of one object's whole JSON, for use within other statements: $1 is its key, $2 its tenant."""
    return _one(shape, Selection())


@lru_cache(maxsize=2048)
def _one(shape: Shape, selection: Selection, extra: str = "", count: int = 0) -> str:
    where = [f't."{shape.key}" = $1']
    if shape.tenant_column:
        where.append(f't."{shape.tenant_column}" = $2')
    first = len(where) + 1
    if shape.where:
        where.append(shape.where)
    if extra:
        where.append(extra.format(*(f"${first + n}" for n in range(count))))
    version = f't."{shape.version}"::text' if shape.version else "''"
    version += f" || coalesce(';' || {shape.unversioned}, '')" if shape.unversioned else ""
    sql = (
        f"SELECT row_to_json(r)::text, {version} FROM {shape.built} t CROSS JOIN LATERAL "
        f"(SELECT {shape.select(selection)}) r WHERE {' AND '.join(where)}"
    )
    return sql.replace(TENANT, "$2")
