"""A search from question to Bundle, in as few round trips as it needs: count, read, and one for each step of inclusions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from core.cursors import InvalidCursor
from core.pipeline import Call, Rows, Statement
from core.pipeline import run as run_calls
from core.watermark import settled
from fhir_api.outcomes import INFORMATION, WARNING, Issue
from fhir_api.resources.types import NUMBERS
from fhir_api.smart import UNNARROWED, Access
from fhir_api.value_sets.queries import members

from . import cursors, drivers, include, paging
from .access import within
from .asking import CURSOR, Ask, Plan, is_feed, plan
from .bundle import INCLUDE, MATCH, Entry, address, bundle
from .compile import Compiler, Place
from .control import Control
from .found import COLUMNS, Found, Telling, read
from .paging import START, After, Page, Part
from .parse import value_sets
from .presence import check_present, presence_call
from .refusals import wrong_value
from .subsets import subset

Run = Callable[[Sequence[Call]], list[Rows]]
Note = Callable[[Sequence[str], Sequence[str], Sequence[Found]], None]
ESTIMATED_AT_MOST: Final = 10_000
_BESIDE_CURSOR: Final = (CURSOR, "_format", "_pretty", "_count")  # the page's size stays that of the first


@dataclass(frozen=True, slots=True)
class Answer:
    """What the tables answered; `start`: the page ends before the first row of the order."""

    matches: list[Found]
    total: int | None
    issues: list[Issue]
    more: bool = False
    start: bool = False


def run_search(ask: Ask, run: Run = run_calls, note: Note | None = None) -> bytes:
    """Answer a search as the bytes of a Bundle; `run` sends statements as the bound tenant.

    `note` is told, before there is an answer, the names of the parameters that were used, the patients whom these name, and
    all resources in it.

    :raises UnknownSearchParameter, InvalidSearch, UnsupportedSearch: the question.
    :raises InvalidCursor: the link that it follows.
    """
    bookmark = bookmark_of(ask)
    pairs = bookmark.pairs if bookmark else ask.pairs
    until = settled(ask.tenant_id, run) if is_feed(pairs) else None
    planned = plan(ask, pairs, members(ask.tenant_id, value_sets(pairs), run), until)
    answer = answer_of(ask, planned, bookmark, run)
    return written(ask, planned, bookmark, answer, included_with(ask, planned.control, answer, run), note)


def written(
    ask: Ask,
    planned: Plan,
    bookmark: cursors.Bookmark | None,
    answer: Answer,
    included: Sequence[Found],
    note: Note | None,
) -> bytes:
    """The Bundle of one page, after it was told to `note`."""
    links = [("self", address(ask.path, _self(ask, planned)))]
    if answer.more:
        links.append(("next", address(ask.path, [(CURSOR, _next(ask, planned, bookmark, answer))])))
    if note is not None:
        note(sorted({name for name, _ in planned.used}), planned.patients, [*answer.matches, *included])
    return bundle(
        _entries(planned.control, answer, included),
        total=answer.total,
        links=links,
        issues=[*planned.warnings, *answer.issues],
    )


def bookmark_of(ask: Ask) -> cursors.Bookmark | None:
    """Where a page goes on, if it is not the first.

    :raises InvalidCursor: the link is altered, expired, or of another search, or something was added to it.
    """
    token = next((value for name, value in ask.pairs if name == CURSOR), "")
    if token and any(name not in _BESIDE_CURSOR for name, _ in ask.pairs):
        raise InvalidCursor("A link to a further page takes no other parameters.")
    return cursors.open(token, tenant_id=ask.tenant_id, type_name=ask.path, at=ask.at) if token else None


def _self(ask: Ask, planned: Plan) -> list[tuple[str, str]]:
    """What was used; a page further on is told by its own link."""
    token = [(name, value) for name, value in ask.pairs if name == CURSOR]
    return token or planned.used


def _next(ask: Ask, planned: Plan, bookmark: cursors.Bookmark | None, answer: Answer) -> str:
    last = answer.matches[-1]
    following = cursors.Bookmark(
        pairs=tuple(planned.used),
        after=START if answer.start else After(last.values, last.date, last.row),
        seen_at=bookmark.seen_at if bookmark else cursors.seen_at(ask.at),
        total=answer.total,
    )
    return cursors.seal(following, tenant_id=ask.tenant_id, type_name=ask.path, at=ask.at)


def answer_of(ask: Ask, planned: Plan, bookmark: cursors.Bookmark | None, run: Run) -> Answer:
    """Read one page, and the total if it is wanted."""
    control = planned.control
    beside = _beside(ask, planned, bookmark)
    if not planned.sought:
        _checked(beside, run([one for one, _ in beside]) if beside else [])
        return Answer([], 0 if control.only_total or control.total != "none" else None, [])
    page = _page(planned, bookmark)
    counts = bookmark is None and (control.only_total or control.total != "none")
    first = [one for one, _ in beside]
    parts, rows = _begun(ask, planned, first, lambda parts: _calls(ask, control, parts, page, counts=counts), run)
    rows = _checked(beside, rows)
    total, issues = bookmark.total if bookmark else None, []
    if counts:
        total = int(rows[-1].value() or 0)
        if control.total == "estimate" and not control.only_total and total == ESTIMATED_AT_MOST:
            text = f"There are {ESTIMATED_AT_MOST} matches or more; _total=accurate counts them all."
            issues.append(Issue("informational", text, details="total_estimated", severity=INFORMATION))
    matches = [] if control.only_total else _matches(ask, control, parts, page, rows[0], run)
    return Answer(matches[: control.count], total, issues, more=len(matches) > control.count)


def _beside(ask: Ask, planned: Plan, bookmark: cursors.Bookmark | None) -> list[tuple[Call, Callable[[Rows], None]]]:
    """What travels ahead of a page, each statement with the check of its answer."""
    found: list[tuple[Call, Callable[[Rows], None]]] = []
    if ask.compartment:
        found.append((presence_call(ask.tenant_id, ask.compartment, ask.access), check_present))
    if planned.bare and bookmark is None and planned.sought:
        found.append((_bare_call(ask, planned), partial(_check_bare, planned)))
    return found


def _checked(beside: Sequence[tuple[Call, Callable[[Rows], None]]], rows: list[Rows]) -> list[Rows]:
    """The answers behind those that were asked ahead, which are checked.

    :raises core.errors.PlatformError: as a check does.
    """
    for (_, check), answered in zip(beside, rows, strict=False):
        check(answered)
    return rows[len(beside) :]


def _bare_call(ask: Ask, planned: Plan) -> Call:
    """Of how many types there is a resource with each id that came without one."""
    compiler = Compiler(ask.tenant_id)
    counts = ", ".join(
        "(SELECT count(DISTINCT r.type) FROM fhir_api_resource r WHERE r.tenant_id = $1 AND NOT r.deleted"
        f" AND r.target_key = ANY({compiler.bind(keys, 'bigint[]')}){_seen(ask.access, compiler)})"
        for _, keys in planned.bare
    )
    return Call(Statement.composed(f"SELECT {counts}"), compiler.parameters)


def _seen(access: Access, compiler: Compiler) -> str:
    """That a row is one of those that the request may see; nothing where it may see all."""
    if access == UNNARROWED:
        return ""
    place = Place("r.id", "r.sort_date", "r")
    readable = [name for name in NUMBERS if access.may_search(name)]
    each = [(NUMBERS[name], compiler.all_hold(within(access, name), place)) for name in readable]
    tests = " OR ".join(f"({' AND '.join([f'r.type = {number}', *conditions])})" for number, conditions in each)
    return f" AND ({tests or 'FALSE'})"


def _check_bare(planned: Plan, rows: Rows) -> None:
    """Refuse an id that could mean resources of several types. Source: R4 search.html#reference.

    :raises InvalidSearch: as said.
    """
    for (name, _), counted in zip(planned.bare, rows.row(), strict=True):
        if int(counted or 0) > 1:
            raise wrong_value(name, "Type/id, as there are resources of several types with this id")


def _begun(
    ask: Ask, planned: Plan, beside: Sequence[Call], calls: Callable[[list[Part]], list[Call]], run: Run
) -> tuple[list[Part], list[Rows]]:
    """Where each type's search begins, and the answers to the statements that follow from it.

    If one number only is to be counted, the statements do that by the way, in the hope that it is small; where it is not,
    they find nothing and are asked again from elsewhere.
    """
    to_begin = [drivers.countable(sought) for sought in planned.sought]
    unknown = drivers.counted(ask.tenant_id, to_begin)
    hoped = drivers.hoped(ask.tenant_id, planned.sought, to_begin, unknown)
    numbers: list[int] = []
    rows: list[Rows] = []
    told: list[Telling] = []
    if hoped:
        rows = run([*beside, *calls([hoped])])
        told = [Telling(one.result) for one in rows[len(beside) :]]
        numbers = [told[0].number]
    elif unknown:
        numbers = [int(number or 0) for number in run([drivers.call(ask.tenant_id, unknown)])[0].row()]
    parts = drivers.parts(ask.tenant_id, planned.sought, to_begin, zip(unknown, numbers, strict=True))
    if hoped and all(one.number < hoped.below for one in told):
        return parts, [*rows[: len(beside)], *told]
    return parts, run([*beside, *calls(parts)])


def _calls(ask: Ask, control: Control, parts: list[Part], page: Page, *, counts: bool) -> list[Call]:
    """What a page asks: the rows, and how many there are."""
    calls = []
    if not control.only_total:
        near = paging.may_be_nearest(parts, control.sort, page)
        calls.append(_page_call(ask, control, parts, page, near=near))
    if counts:
        calls.append(_count_call(ask, control, parts))
    return calls


def _page(planned: Plan, bookmark: cursors.Bookmark | None) -> Page:
    return Page(planned.control.count + 1, bookmark.after if bookmark else None, bookmark.seen_at if bookmark else "")


def _page_call(ask: Ask, control: Control, parts: Sequence[Part], page: Page, *, near: bool) -> Call:
    """The rows of a page, or (`near`) of what comes next by the sort date; their value tells whether they are dated."""
    compiler = Compiler(ask.tenant_id)
    if near:
        sql = paging.nearest(compiler, parts[0], control.sort[0], page)
        number = compiler.bind(f" {control.sort[0].parameter.number} ", "text")
        values = f", CASE WHEN strpos(r.parameters, {number}) > 0 THEN page.date END"
    else:
        sql = paging.select(compiler, parts, control.sort, page)
        values = "".join(f", page.v{n}" for n in range(1, len(control.sort) + 1))
    compiler.tables.append(f"page AS MATERIALIZED (SELECT p.*, row_number() OVER () AS place FROM ({sql}) AS p)")
    found = "page JOIN fhir_api_resource r ON r.id = page.id AND r.tenant_id = $1"
    if compiler.tells:
        values, found = f"{values}, few.number", f"few LEFT JOIN ({found}) ON TRUE"
    text = f"{compiler.head()}SELECT {COLUMNS}, page.date{values} FROM {found} ORDER BY page.place"
    return Call(Statement.composed(text), compiler.parameters)


def _matches(ask: Ask, control: Control, parts: Sequence[Part], page: Page, rows: Rows, run: Run) -> list[Found]:
    """The page that was read; one by the clinical date is read in full if what comes next by the sort date is not it.

    The undated stand last, in either direction the newest of them first.
    """
    found = list(read(rows))
    if not paging.may_be_nearest(parts, control.sort, page):
        return found
    dated, undated = ([one for one in found if (one.values[0] is not None) is has] for has in (True, False))
    if not paging.is_settled(len(dated), len(undated), page):
        return list(read(run([_page_call(ask, control, parts, page, near=False)])[0]))
    return dated + (undated if control.sort[0].descending else undated[::-1])


def _count_call(ask: Ask, control: Control, parts: Sequence[Part]) -> Call:
    compiler = Compiler(ask.tenant_id)
    most = ESTIMATED_AT_MOST if control.total == "estimate" and not control.only_total else 0
    sql = paging.count(compiler, parts, most=most)
    if compiler.tells:
        sql = f"SELECT counted.*, few.number FROM few, ({sql}) AS counted"
    return Call(Statement.composed(f"{compiler.head()}{sql}"), compiler.parameters)


def included_with(ask: Ask, control: Control, answer: Answer, run: Run) -> list[Found]:
    """What the matches of a page include; where there is more, the answer's issues say so."""
    if not answer.matches or not (control.includes or control.revincludes):
        return []
    fetched = include.follow(ask.tenant_id, ask.access, control, answer.matches, run)
    if fetched.cut:
        text = f"A page includes at most {include.MOST} resources; there are more."
        answer.issues.append(Issue("incomplete", text, details="includes_cut", severity=WARNING))
    if fetched.deep:
        text = f"Inclusions are followed for {include.DEEPEST} steps; there are more."
        answer.issues.append(Issue("incomplete", text, details="includes_deep", severity=WARNING))
    return fetched.resources


def _entries(control: Control, answer: Answer, included: Sequence[Found]) -> list[Entry]:
    entries = [(one.type, one.fhir_id, _shown(one.body, control), MATCH) for one in answer.matches]
    return entries + [(one.type, one.fhir_id, _included(one.body, control), INCLUDE) for one in included]


def _shown(body: bytes, control: Control) -> bytes:
    return subset(body, control) if control.subsets else body


def _included(body: bytes, control: Control) -> bytes:
    """Elements are chosen of matches; a summary is of all."""
    return subset(body, control) if control.summary in ("true", "text", "data") else body
