"""`Observation/$lastn`: the newest observations of each code, among those that a search finds.

Source: R4 operation-observation-lastn.html.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from core.pipeline import Call, Rows, Statement
from core.pipeline import run as run_calls
from fhir_api.definitions.parameters import PARAMETERS
from fhir_api.outcomes import WARNING, Issue
from fhir_api.value_sets.queries import members

from .asking import Ask, Plan, ignored, plan
from .compile import Compiler
from .found import COLUMNS, Found, read
from .parse import Pair, checked_pairs, value_sets
from .refusals import InvalidSearch, unknown, wrong_value
from .running import Answer, Note, Run, included_with, written

OPERATION: Final = "Observation/$lastn"
MOST: Final = 1_000  # observations in an answer
_MAX: Final = "max"
_ELSEWHERE: Final = frozenset({"_sort", "_count", "_total"})  # the operation orders and limits by itself
_SUBJECTS: Final = frozenset({"patient", "subject"})
_CODES: Final = frozenset({"category", "code", "combo-code", "component-code"})

# What counts as one code: the same codings, whatever their order; without any, the same text.
_CODE: Final = """coalesce(
  (SELECT jsonb_agg(DISTINCT jsonb_build_array(c ->> 'system', c ->> 'code')) FROM jsonb_array_elements(code -> 'coding') AS c
   WHERE c ? 'code'), to_jsonb(code ->> 'text'), code)"""


def run_latest(ask: Ask, run: Run = run_calls, note: Note | None = None) -> bytes:
    """Answer the newest observations of each code, `max` of each, newest first; `ask.type` is Observation.

    :raises InvalidSearch: no subject is named, or neither category nor code; `max` is no positive number.
    :raises UnknownSearchParameter, UnsupportedSearch: as of a search.
    """
    most, pairs, left_out = _read(ask)
    planned = plan(ask, pairs, members(ask.tenant_id, value_sets(pairs), run))
    planned.warnings += left_out
    _check_named(planned.used)
    if most > 1:
        planned.used.append((_MAX, str(most)))
    (rows,) = run([_call(ask, planned, most)])
    matches = list(_latest(rows, most))
    issues = []
    if len(rows) > MOST:
        text = f"The answer has at most {MOST} observations; there are older ones of other codes."
        issues.append(Issue("incomplete", text, details="latest_cut", severity=WARNING))
    shown = [] if planned.control.only_total else matches[:MOST]
    answer = Answer(shown, len(matches[:MOST]), issues)
    included = included_with(ask, planned.control, answer, run)
    return written(replace(ask, type=OPERATION), planned, None, answer, included, note)


def _read(ask: Ask) -> tuple[int, list[Pair], list[Issue]]:
    """How many of each code, the parameters of the search, and warnings of what is left out."""
    given = dict.fromkeys(value for name, value in ask.pairs if name == _MAX)
    if len(given) > 1 or not all(value.isascii() and value.isdigit() and value.strip("0") for value in given):
        raise wrong_value(_MAX, "one whole number from 1 up")
    pairs, left_out = [], []
    for name, value in checked_pairs(ask.pairs):
        if name.partition(":")[0] in _ELSEWHERE:
            error = unknown(name, OPERATION)
            if ask.strict:
                raise error
            left_out.append(ignored(error))
        elif name != _MAX:
            pairs.append((name, value))
    return min([MOST, *(int(value.lstrip("0")[:9]) for value in given)]) if given else 1, pairs, left_out


def _check_named(used: Sequence[Pair]) -> None:
    """Demand what the operation must be asked with.

    :raises InvalidSearch: it is not there.
    """
    names = {name.partition(":")[0].partition(".")[0] for name, _ in used}
    if not names & _SUBJECTS:
        raise InvalidSearch("$lastn needs a subject: the parameter patient or subject.", issue_type="required")
    if not any(name in _CODES or "code-value-" in name for name in names):
        raise InvalidSearch("$lastn needs the parameter category, or one that asks a code.", issue_type="required")


def _call(ask: Ask, planned: Plan, most: int) -> Call:
    """The newest of each set of codings; what has no effective time comes behind what has one."""
    compiler = Compiler(ask.tenant_id)
    (sought,) = planned.sought
    source, where = compiler.candidates(sought)
    distinct = "" if source.single else "DISTINCT "
    found = f"SELECT {distinct}{source.place.id} AS id FROM {source.tables} WHERE {' AND '.join(where)}"
    dated = compiler.bind(f" {PARAMETERS['Observation', 'date'].number} ", "text")
    coded = (
        f"SELECT r.id, strpos(r.parameters, {dated}) > 0 AS dated, r.sort_date, {_CODE} AS same"
        f" FROM ({found}) AS candidates JOIN fhir_api_resource r ON r.id = candidates.id AND r.tenant_id = $1"
        " CROSS JOIN LATERAL (SELECT r.body::jsonb -> 'code' AS code OFFSET 0) AS own"
    )
    order = "dated DESC, sort_date DESC, id DESC"
    ranked = f"SELECT coded.*, row_number() OVER (PARTITION BY same ORDER BY {order}) AS place FROM ({coded}) AS coded"
    newest = f"SELECT * FROM ({ranked}) AS ranked WHERE place <= {most} ORDER BY {order} LIMIT {MOST + 1}"
    sql = (
        f"{compiler.head()}SELECT {COLUMNS}, newest.same::text FROM ({newest}) AS newest"
        " JOIN fhir_api_resource r ON r.id = newest.id AND r.tenant_id = $1"
        " ORDER BY newest.dated DESC, newest.sort_date DESC, newest.id DESC"
    )
    return Call(Statement.composed(sql), compiler.parameters)


def _latest(rows: Rows, most: int) -> Iterator[Found]:
    """The newest of each code; sets of codings that share one are of one code, as translations of each other."""
    found = [(one, _names(json.loads(one.date))) for one in read(rows)]
    groups: dict[str, str] = {}
    for _, names in found:
        root = _root(groups, names[0])
        for name in names[1:]:
            groups[_root(groups, name)] = root
    taken: dict[str, int] = {}
    for one, names in found:
        root = _root(groups, names[0])
        taken[root] = taken.get(root, 0) + 1
        if taken[root] <= most:
            yield replace(one, date="")


def _names(same: Any) -> list[str]:
    """What tells a code: each of its codings, or what stands in their place."""
    return [json.dumps(one) for one in same] if isinstance(same, list) else [json.dumps({"text": same})]


def _root(groups: dict[str, str], name: str) -> str:
    """The name that stands for all of its group."""
    while (above := groups.setdefault(name, name)) != name:
        name = above
    return name


__all__ = ["MOST", "OPERATION", "run_latest"]
