"""Pages as SQL: the next rows in an order after the last one, whatever was written meanwhile; never by OFFSET."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from .compile import Compiler, Place, Source
from .conditions import Condition, Neither, Own, Sought, Test
from .control import SortKey
from .sort import Value, is_primary, value

BY_DATE: Final = "date DESC, id DESC"
# Created until a moment: what was changed since then is asked for the time of its first version. The comparison stands
# outside, where the planner cannot take the index by time for it in place of the full key.
_WAS_THERE: Final = (
    "{row}.last_updated <= {} OR ({row}.version > 1 AND (SELECT v.last_updated FROM fhir_api_resourceversion v"
    " WHERE v.tenant_id = $1 AND v.type = {row}.type AND v.fhir_id = {row}.fhir_id AND v.version = 1) <= {})"
)


@dataclass(frozen=True, slots=True)
class After:
    """Where the last page ended: the values of the sort keys (None: missing), the sort date and the row's number."""

    values: tuple[str | None, ...]
    date: str
    id: str


START: Final = After((), "infinity", str(2**63 - 1))  # before the newest


@dataclass(frozen=True, slots=True)
class Page:
    """How much is asked: after which row, how many, and nothing that was created later than `seen_at`."""

    limit: int
    after: After | None = None
    seen_at: str = ""

    def bounded(self, conditions: Sequence[Condition]) -> tuple[Condition, ...]:
        """The conditions, and that the resource was there when the first page was read."""
        if not self.seen_at:
            return tuple(conditions)
        seen = self.seen_at, "timestamptz"
        return (*conditions, Own(Test(_WAS_THERE, (seen, seen))))


@dataclass(frozen=True, slots=True)
class Part:
    """One type's share of a search and the condition it begins at; with `below`, only if that has fewer rows."""

    sought: Sought
    driver: Condition | None
    below: int = 0


def select(compiler: Compiler, parts: Sequence[Part], sort: Sequence[SortKey], page: Page) -> str:
    """The statement's text: `id, date, v1 …` of the page, in order."""
    if not sort:
        selects = [_newest(compiler, part, page) for part in parts]
        order = BY_DATE
    elif len(parts) == 1 and is_primary(parts[0].sought.type, sort):
        return _by_primary(compiler, parts[0], sort[0], page)
    else:
        sorted_parts = [_sorted(compiler, part, sort, page) for part in parts]
        selects = [sql for sql, _ in sorted_parts]
        order = sorted_parts[0][1]
    if len(selects) == 1:
        return selects[0]
    union = " UNION ALL ".join(f"({sql})" for sql in selects)
    return f"SELECT * FROM ({union}) AS together ORDER BY {order} LIMIT {page.limit}"


def may_be_nearest(parts: Sequence[Part], sort: Sequence[SortKey], page: Page) -> bool:
    """Tell whether a page may be `nearest`: by the clinical date of one type, and not behind all that have one."""
    return len(parts) == 1 and is_primary(parts[0].sought.type, sort) and not _in_rest(page)


def nearest(compiler: Compiler, part: Part, key: SortKey, page: Page) -> str:
    """The statement's text: `id, date` of what comes next by the sort date; `is_settled` tells if that is the page."""
    return _newest(compiler, part, page, descending=key.descending)


def is_settled(dated: int, undated: int, page: Page) -> bool:
    """Tell whether what comes next by the sort date is the page: all of it is dated, or there is no more at all.

    A later page cannot tell the latter, since the others may have been created before its place.
    """
    is_full = dated + undated == page.limit
    return not undated and is_full if page.after else not undated or not is_full


def count(compiler: Compiler, parts: Sequence[Part], *, most: int = 0) -> str:
    """The statement's text for the number of all matches, or of at most so many."""
    selects = []
    for part in parts:
        source, where = compiler.candidates(part.sought, part.driver, part.below)
        distinct = "" if source.single else "DISTINCT "
        selects.append(f"SELECT {distinct}{source.place.id} AS id FROM {source.tables} WHERE {' AND '.join(where)}")
    limit = f" LIMIT {most}" if most else ""
    return f"SELECT count(*) FROM ({' UNION ALL '.join(f'({sql})' for sql in selects)}{limit}) AS found"


def _newest(compiler: Compiler, part: Part, page: Page, *, descending: bool = True, extra: str = "") -> str:
    """The newest (or oldest) of one type, as the index gives them."""
    conditions = page.bounded(part.sought.conditions)
    source = compiler.source(part.sought.type, part.driver, part.below)
    place = source.place
    where = [*source.where, *compiler.all_hold((one for one in conditions if one is not part.driver), place)]
    if page.after:
        where.append(_beyond(compiler, page.after, place, descending=descending))
    direction = "DESC" if descending else "ASC"
    order = f"ORDER BY {place.date} {direction}, {place.id} {direction} LIMIT {page.limit}"
    found = f"SELECT {place.id} AS id, {place.date} AS date{extra} FROM {source.tables} WHERE {' AND '.join(where or ['TRUE'])} {order}"
    if not source.keys:
        return found
    each = f"SELECT DISTINCT one.* FROM {source.keys} CROSS JOIN LATERAL ({found}) AS one"
    return f"{each} ORDER BY date {direction}, id {direction} LIMIT {page.limit}"


def _beyond(compiler: Compiler, after: After, place: Place, *, descending: bool) -> str:
    date, number = compiler.bind(after.date, "timestamptz"), compiler.bind(after.id, "bigint")
    return f"({place.date}, {place.id}) {'<' if descending else '>'} ({date}, {number})"


def _by_primary(compiler: Compiler, part: Part, key: SortKey, page: Page) -> str:
    """By the clinical date: first those that have it, as the index gives them; then, if there is room, the others.

    The sort date of the others is their creation's, which tells nothing of the parameter, so they stand apart. Mostly there
    are none: then a page is `nearest`, and this is not asked.
    """
    has = Own(Test("strpos({row}.parameters, {}) > 0", ((f" {key.parameter.number} ", "text"),)))
    selects = []
    if not _in_rest(page):
        dated = replace(part, sought=Sought(part.sought.type, (*part.sought.conditions, has)))
        own = _newest(compiler, dated, page, descending=key.descending, extra=", 0 AS rest")
        compiler.tables.append(f"dated AS MATERIALIZED ({own})")
        selects.append("SELECT * FROM dated")
    others = replace(part, sought=Sought(part.sought.type, (*part.sought.conditions, Neither((has,)))))
    beyond = page if _in_rest(page) else Page(page.limit, None, page.seen_at)
    own = _newest(compiler, others, beyond, extra=", 1 AS rest")
    room = "" if _in_rest(page) else f" WHERE (SELECT count(*) FROM dated) < {page.limit}"
    selects.append(f"SELECT * FROM ({own}) AS undated{room}")
    union = " UNION ALL ".join(f"({sql})" for sql in selects)
    return _ordered_union(union, page.limit, descending=key.descending)


def _in_rest(page: Page) -> bool:
    """Tell whether a page by the clinical date begins behind all that have one."""
    return page.after is not None and page.after.values[0] is None


def _ordered_union(union: str, limit: int, *, descending: bool) -> str:
    direction = "DESC" if descending else "ASC"
    order = f"rest, (CASE rest WHEN 0 THEN date END) {direction}, (CASE rest WHEN 0 THEN id END) {direction}, date DESC, id DESC"
    shown = "CASE rest WHEN 0 THEN date END AS v1"
    return f"SELECT id, date, {shown} FROM ({union}) AS together ORDER BY {order} LIMIT {limit}"


def _sorted(compiler: Compiler, part: Part, sort: Sequence[SortKey], page: Page) -> tuple[str, str]:
    """All candidates of one type, ordered by values of parameters; the page and its ORDER BY."""
    conditions = page.bounded(part.sought.conditions)
    source, where = compiler.candidates(Sought(part.sought.type, conditions), part.driver, part.below)
    tables, place = _with_row(compiler, source, where)
    values = [value(compiler, part.sought.type, key, place) for key in sort]
    names = [f"v{n}" for n in range(1, len(values) + 1)]
    shown = ", ".join(f"{one.sql} AS {name}" for one, name in zip(values, names, strict=True))
    inner = f"SELECT {place.id} AS id, {place.date} AS date, {shown} FROM {tables}"
    direction = "DESC" if values[-1].descending else "ASC"
    order = ", ".join([*(one.order(name) for one, name in zip(values, names, strict=True)), f"id {direction}"])
    beyond = f" WHERE {_beyond_values(compiler, values, page.after)}" if page.after else ""
    return f"SELECT * FROM ({inner}) AS candidates{beyond} ORDER BY {order} LIMIT {page.limit}", order


def _with_row(compiler: Compiler, source: Source, where: Sequence[str]) -> tuple[str, Place]:
    """Candidates with their own rows at hand, each once."""
    place = source.place
    if place.row and source.single:
        return f"{source.tables} WHERE {' AND '.join(where)}", place
    row = compiler.alias()
    distinct = "" if source.single else "DISTINCT "
    found = f"SELECT {distinct}{place.id} AS id FROM {source.tables} WHERE {' AND '.join(where)}"
    joined = f"({found}) AS {row}c JOIN fhir_api_resource {row} ON {row}.id = {row}c.id AND {row}.tenant_id = $1"
    return joined, Place(f"{row}.id", f"{row}.sort_date", row)


def _beyond_values(compiler: Compiler, values: Sequence[Value], after: After) -> str:
    """What comes after a row in the order of the values: equal in the first of them and beyond in the next one."""
    bounds = [(one.cast, text) for one, text in zip(values, after.values, strict=True)]
    number = compiler.bind(after.id, "bigint")
    if len(values) == 1 and not values[0].optional:
        sign = "<" if values[0].descending else ">"
        return f"(v1, id) {sign} ({compiler.bind(bounds[0][1], bounds[0][0])}, {number})"
    equal: list[str] = []
    ways: list[str] = []
    for n, (one, (cast, text)) in enumerate(zip(values, bounds, strict=True), 1):
        if text is None:
            equal.append(f"v{n} IS NULL")
            continue
        bound, sign = compiler.bind(text, cast), "<" if one.descending else ">"
        ways.append(" AND ".join([*equal, f"(v{n} {sign} {bound} OR v{n} IS NULL)"]))
        equal.append(f"v{n} = {bound}")
    ways.append(" AND ".join([*equal, f"id {'<' if values[-1].descending else '>'} {number}"]))
    return " OR ".join(f"({way})" for way in ways)
