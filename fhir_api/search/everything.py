"""`$everything` of a Patient or an Encounter: itself, its compartment, and what that refers to, in pages of the search.

Source: R4 operation-patient-everything.html, operation-encounter-everything.html; contract, fhir.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.errors import Gone
from core.pipeline import Call, Statement
from core.pipeline import run as run_calls
from fhir_api.compartments import CONFINED, SHARED, encounter_keys, keys
from fhir_api.definitions.parameters import PARAMETERS
from fhir_api.instants import read_instant, read_span
from fhir_api.keys import reference_key, target_key
from fhir_api.outcomes import WARNING, Issue
from fhir_api.reading import read_stored
from fhir_api.resources.types import NUMBERS, TYPES
from fhir_api.smart import READ, SEARCH
from fhir_api.store import Name, NoSuchResource

from .access import in_compartment, within
from .asking import CURSOR, Ask, Plan, ignored, left_empty, tell_count
from .compile import Compiler, Place
from .conditions import Condition, Either, Keyed, Neither, Own, Sought, Test
from .control import Control, apply
from .found import COLUMNS, Found, read
from .include import DEEPEST, MOST, references_in, referring
from .parse import Pair, checked_pairs, criterion
from .refusals import InvalidSearch, unknown, wrong_value
from .running import Answer, Note, Run, answer_of, bookmark_of, written
from .translate import condition
from .values import Context

OPERATION: Final = "$everything"
USUAL_COUNT: Final = 200
_SINGLE: Final = {"Patient": ("start", "end", "_since", "_count"), "Encounter": ("_since", "_count")}
_OF_HTTP: Final = frozenset({"_format", "_pretty", CURSOR})

# When the care was: by which parameters it ends, and by which it begins; for other types both are the clinical date. What
# tells neither is never left out, nor is a condition that has not ended, nor an allergy.
_CARE: Final = {
    "AllergyIntolerance": ((), ()),
    "Condition": (("abatement-date",), ("onset-date", "recorded-date")),
    "Goal": ((), ("start-date",)),
    "MedicationDispense": (("whenhandedover", "whenprepared"), ("whenhandedover", "whenprepared")),
}


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What one request asks for: types ("" for all), changed since when, and the plan of the search."""

    types: tuple[str, ...]
    since: tuple[Condition, ...]
    plan: Plan


def name_of(whose: Name) -> str:
    """How addresses and links name the operation on a resource; the `type` of its `Ask`."""
    return f"{'/'.join(whose)}/{OPERATION}"


def run_everything(ask: Ask, whose: Name, run: Run = run_calls, note: Note | None = None) -> bytes:
    """Answer one page; `ask.type` is `name_of(whose)`.

    :raises NoSuchResource, Gone: the patient or encounter.
    :raises InvalidSearch, InvalidTime, UnknownSearchParameter: a parameter.
    :raises InvalidCursor: the link that it follows.
    """
    bookmark = bookmark_of(ask)
    wanted = _wanted(ask, whose, bookmark.pairs if bookmark else ask.pairs)
    own = _own(ask, whose, wanted, run)
    if bookmark is None and own is not None and whose[0] in wanted.types:
        answer = _first(ask, wanted.plan, own, run)
    else:
        answer = answer_of(ask, wanted.plan, bookmark, run)
    included = _included(ask, whose, wanted, answer, run)
    return written(ask, wanted.plan, bookmark, answer, included, note)


def _first(ask: Ask, plan: Plan, own: Found, run: Run) -> Answer:
    """The first page, which begins with the patient or encounter; a page of one is that alone."""
    alone = plan.control.count == 1
    plan.control.count -= 0 if alone else 1
    answer = answer_of(ask, plan, None, run)
    if alone:
        return Answer([own], None, answer.issues, more=bool(answer.matches), start=True)
    return Answer([own, *answer.matches], None, answer.issues, answer.more)


def _wanted(ask: Ask, whose: Name, pairs: Sequence[Pair]) -> _Wanted:
    plan = Plan([], Control(count=USUAL_COUNT), [])
    for name, value in checked_pairs(pairs):
        if name == "_type" and left_empty(ask, plan, name, value):
            continue
        if name in _SINGLE[whose[0]] or name == "_type":
            plan.used.append((name, value))
        elif name not in _OF_HTTP:
            error = unknown(name, OPERATION)
            if ask.strict:
                raise error
            plan.warnings.append(ignored(error))
    given = _given(plan.used)
    if "_count" in given:
        apply(plan.control, ("Patient",), "_count", given["_count"])
        if not plan.control.count:
            raise wrong_value("_count", "a whole number from 1 up")
        tell_count(plan)
    since = _since(given["_since"]) if "_since" in given else ()
    named = [one for name, value in plan.used if name == "_type" for one in _types(value)]
    chosen = tuple(dict.fromkeys(named)) or tuple(NUMBERS)
    plan.sought = _sought(ask, whose, chosen, since, _period(given))
    return _Wanted(chosen, since, plan)


def _given(used: Sequence[Pair]) -> dict[str, str]:
    """The parameters that are said once.

    :raises InvalidSearch: one is said twice.
    """
    found: dict[str, str] = {}
    for name, value in used:
        if name != "_type" and found.setdefault(name, value) != value:
            raise wrong_value(name, "one value")
    return found


def _types(value: str) -> list[str]:
    named = [part for part in value.split(",") if part]
    if strange := next((name for name in named if name not in NUMBERS), None):
        raise wrong_value("_type", f"types of this server; '{strange[:40]}' is none")
    return named


def _since(value: str) -> tuple[Condition, ...]:
    at = read_instant(value, name="_since")
    return (Own(Test("{row}.last_updated >= {}", ((at.isoformat(), "timestamptz"),))),)


def _period(given: dict[str, str]) -> dict[str, str]:
    """The ends of the care's time.

    :raises InvalidTime: one is no date.
    :raises InvalidSearch: it ends before it begins.
    """
    spans = {name: read_span(given[name], name=name) for name in ("start", "end") if name in given}
    if len(spans) == 2 and spans["start"][0] >= spans["end"][1]:
        raise InvalidSearch("end is before start.", issue_type="value")
    return {name: given[name] for name in spans}


def _sought(
    ask: Ask, whose: Name, types: Sequence[str], since: Sequence[Condition], period: dict[str, str]
) -> list[Sought]:
    found = []
    for name in CONFINED:
        named = keys(name, whose[1]) if whose[0] == "Patient" else encounter_keys(name, whose[1])
        if name not in types or not named or not ask.access.allows(name, SEARCH):
            continue
        conditions: list[Condition] = [Keyed(named, rare=True), *since, *_in_care(ask, name, period)]
        if name == whose[0]:
            conditions.append(Neither((_is(whose),)))
        found.append(Sought(name, (*conditions, *within(ask.access, name))))
    return found


def _in_care(ask: Ask, type_name: str, period: dict[str, str]) -> Iterator[Condition]:
    """That the care overlaps the time asked for, as far as the resource tells its own."""
    date = (TYPES[type_name].date,) if TYPES[type_name].date else ()
    ends, begins = _CARE.get(type_name, (date, date))
    for name, prefix, codes in (("start", "ge", ends), ("end", "le", begins)):
        if name not in period or not codes:
            continue
        untold = Neither(tuple(_present(type_name, code) for code in codes))
        text = f"{prefix}{period[name]}"
        told = [criterion(type_name, code, text) for code in codes]
        yield Either((untold, *(condition(one, Context(ask.at, ask.access), ask.access) for one in told if one)))


def _present(type_name: str, code: str) -> Condition:
    number = PARAMETERS[type_name, code].number
    return Own(Test("strpos({row}.parameters, {}) > 0", ((f" {number} ", "text"),)))


def _is(whose: Name) -> Own:
    return Own(Test("{row}.fhir_id = {}", ((whose[1], "text"),)))


def _compartment(whose: Name, type_name: str) -> tuple[Condition, ...]:
    """The condition on the resources of a type in the compartment; none of a type that is never of one."""
    if whose[0] == "Patient":
        return in_compartment(whose[1], type_name)
    if type_name == "Encounter":
        return (_is(whose),)
    found = encounter_keys(type_name, whose[1])
    return (Keyed(found, rare=True),) if found else ()


def _own(ask: Ask, whose: Name, wanted: _Wanted, run: Run) -> Found | None:
    """The patient or encounter itself; None where it has not changed since the time asked for.

    :raises NoSuchResource: there is none, or the request is bound to another patient.
    :raises Gone: it was deleted.
    """
    compiler = Compiler(ask.tenant_id)
    place = Place("r.id", "r.sort_date", "r")
    name = compiler.bind(whose[1], "text")
    tests = " AND ".join(compiler.all_hold(wanted.since, place)) or "TRUE"
    seen = " AND ".join(compiler.all_hold(within(ask.access, whose[0]), place)) or "TRUE"
    sql = (
        f"SELECT {COLUMNS}, r.version::text, ({tests})::text FROM fhir_api_resource r"
        f" WHERE r.tenant_id = $1 AND r.type = {NUMBERS[whose[0]]} AND r.fhir_id = {name} AND {seen}"
    )
    (rows,) = run([Call(Statement.composed(sql), compiler.parameters)])
    linked = whose[0] == "Patient" and ask.access.patient not in ("", whose[1])
    if not len(rows) or linked:
        raise NoSuchResource
    if rows.value(0, 3) is None:
        raise Gone(headers={"ETag": f'W/"{(rows.value(0, 4) or b"").decode()}"'})
    return next(read(rows)) if rows.value(0, 5) == b"true" else None


def _included(ask: Ask, whose: Name, wanted: _Wanted, answer: Answer, run: Run) -> list[Found]:
    """What the page refers to outside of the compartment, of staff and places what they refer to as well, and the
    Provenance of what is on the page.
    """
    included = _provenance(ask, whose, wanted, answer, run)
    known = {one.name for one in (*answer.matches, *included)}
    fresh: Sequence[Found] = answer.matches
    for step in range(DEEPEST):
        names = {name for one in fresh for name in references_in(read_stored(one.body))} - known
        names = {(kind, fhir_id) for kind, fhir_id in names if not step or kind in SHARED}
        calls = list(_calls(ask, whose, wanted, names))
        if not calls:
            break
        room = MOST - len(included)
        found = [one for rows in run(calls) for one in read(rows)]
        included += found[:room]
        if len(found) > room:
            text = f"A page includes at most {MOST} resources; there are more."
            answer.issues.append(Issue("incomplete", text, details="includes_cut", severity=WARNING))
            break
        known.update(names)
        fresh = [one for one in found if one.type in SHARED]
    return included


def _provenance(ask: Ask, whose: Name, wanted: _Wanted, answer: Answer, run: Run) -> list[Found]:
    """What tells of the page's resources how they came to be, but for what is in the compartment itself."""
    name = "Provenance"
    if name not in wanted.types or not ask.access.allows(name, SEARCH) or not answer.matches:
        return []
    inside = _compartment(whose, name)
    held = (*wanted.since, *within(ask.access, name), *((Neither(inside),) if inside else ()))
    number = PARAMETERS[name, "target"].number
    told_of = [reference_key(number, target_key(*one.name)) for one in answer.matches]
    (rows,) = run([referring(ask.tenant_id, held, told_of, MOST)])
    return [*read(rows)]


def _calls(ask: Ask, whose: Name, wanted: _Wanted, names: set[Name]) -> Iterator[Call]:
    """The statements that fetch resources by name, as far as the request may see them and wants them."""
    for type_name in dict.fromkeys(name for name, _ in sorted(names)):
        if type_name not in wanted.types or not ask.access.allows(type_name, READ):
            continue
        compiler = Compiler(ask.tenant_id)
        ids = compiler.bind([fhir_id for name, fhir_id in sorted(names) if name == type_name], "text[]")
        where = ["r.tenant_id = $1", f"r.type = {NUMBERS[type_name]}", f"r.fhir_id = ANY({ids})", "NOT r.deleted"]
        inside = _compartment(whose, type_name)
        conditions = (*wanted.since, *within(ask.access, type_name), *((Neither(inside),) if inside else ()))
        where += compiler.all_hold(conditions, Place("r.id", "r.sort_date", "r"))
        sql = f"SELECT {COLUMNS} FROM fhir_api_resource r WHERE {' AND '.join(where)} ORDER BY r.fhir_id"
        yield Call(Statement.composed(sql), compiler.parameters)
