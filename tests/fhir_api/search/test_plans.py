"""The plans of searches as the runtime role: every form finds its way by index among 20,000 resources of several tenants."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from psycopg import sql as composing

from core import pipeline
from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.pipeline import Call, Statement
from fhir_api import search
from fhir_api.definitions.parameters import parameter
from fhir_api.history import HistoryQuery, count_call, page_call
from fhir_api.keys import code_key, constant, date_key, quantity_key, string_key, system_code_key, target_key
from fhir_api.queries import patient_lookup
from fhir_api.search import compile as compiling
from fhir_api.search.everything import OPERATION
from fhir_api.smart import UNNARROWED, Access
from fhir_api.statements import LOCK_TO_CHANGE, LOCK_TO_DELETE, NAMED
from organizations.models import Tenant
from tests import factories
from tests.fhir_api.search import record

LOINC = "http://loinc.org"
GENERIC = pytest.mark.parametrize("generic", [False, True], ids=["for_these_values", "for_any"])
EACH, TENANTS, PATIENTS = 6_600, 3, 300


def number(type_name: str, code: str) -> int:
    found = parameter(type_name, code)
    assert found
    return found.number


# Patients first, then observations: row n belongs to patient n % PATIENTS, has one of 40 codes, a value and a day of its
# own, but those of one patient tell no date. Each third of all has a version that is past.
_FILL = """
WITH made AS (
  INSERT INTO fhir_api_resource (tenant_id, type, fhir_id, version, last_updated, method, deleted, sort_date, target_key, parameters, body)
  SELECT %(tenant)s, CASE WHEN n <= %(patients)s THEN 1 ELSE 3 END, 'r' || n, CASE n %% 3 WHEN 0 THEN 2 ELSE 1 END, now(), 1, false,
         timestamptz '2020-01-01' + n * interval '3 hours', coalesce((%(targets)s::bigint[])[n], n),
         CASE WHEN n %% %(patients)s = 150 THEN %(undated)s ELSE %(parameters)s END, '{}'
  FROM generate_series(1, %(each)s) n RETURNING id, type, sort_date, target_key, substr(fhir_id, 2)::int AS n),
patients AS (SELECT * FROM made WHERE type = 1), observations AS (SELECT * FROM made WHERE type = 3),
versions AS (
  INSERT INTO fhir_api_resourceversion (tenant_id, type, fhir_id, version, last_updated, method, body)
  SELECT %(tenant)s, type, 'r' || n, 1, now(), 1, '{}' FROM made WHERE n %% 3 = 0),
postings AS (
  INSERT INTO fhir_api_posting (tenant_id, key, sort_date, resource_id)
  SELECT %(tenant)s, key, sort_date, id FROM (
    SELECT %(final)s::bigint AS key, sort_date, id FROM observations
    UNION ALL SELECT (%(codes)s::bigint[])[1 + o.n %% 40], sort_date, id FROM observations o
    UNION ALL SELECT (%(genders)s::bigint[])[1 + p.n %% 2], sort_date, id FROM patients p
    UNION ALL SELECT p.target_key # constant, o.sort_date, o.id
      FROM observations o JOIN patients p ON p.n = 1 + o.n %% %(patients)s
      CROSS JOIN LATERAL unnest(ARRAY[%(patient)s, %(subject)s, (%(codes)s::bigint[])[1 + o.n %% 40]]) AS constant) AS every),
dates AS (
  INSERT INTO fhir_api_dateentry (tenant_id, key, low, high, resource_id)
  SELECT %(tenant)s, %(date)s, sort_date, sort_date + interval '1 second', id FROM observations),
strings AS (
  INSERT INTO fhir_api_stringentry (tenant_id, key, value, resource_id)
  SELECT %(tenant)s, %(family)s, md5(n::text), id FROM patients
  UNION ALL SELECT %(tenant)s, %(text)s, md5(n::text), id FROM observations),
positions AS (
  INSERT INTO fhir_api_positionentry (tenant_id, latitude, longitude, resource_id)
  SELECT %(tenant)s, n %% 170 - 85, n %% 360 - 180, id FROM observations)
INSERT INTO fhir_api_quantityentry (tenant_id, key, value, resource_id)
SELECT %(tenant)s, %(quantity)s, n %% 200, id FROM observations
"""


def fill(tenant: Tenant) -> None:
    values = {
        "tenant": tenant.id,
        "patients": PATIENTS,
        "each": EACH,
        "targets": [target_key("Patient", f"r{n}") for n in range(1, PATIENTS + 1)],
        "parameters": f" {number('Observation', 'code')} {number('Observation', 'date')} ",
        "undated": f" {number('Observation', 'code')} ",
        "final": code_key(number("Observation", "status"), "final"),
        "codes": [system_code_key(number("Observation", "code"), LOINC, f"c{n}") for n in range(40)],
        "genders": [code_key(number("Patient", "gender"), one) for one in ("male", "female")],
        "patient": constant(number("Observation", "patient")),
        "subject": constant(number("Observation", "subject")),
        "date": date_key(number("Observation", "date")),
        "family": string_key(number("Patient", "family")),
        "text": string_key(number("Observation", "value-string")),
        "quantity": quantity_key(number("Observation", "value-quantity"), "any"),
    }
    with tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute(_FILL, values)


@pytest.fixture(scope="module")
def tenant() -> Tenant:
    tenants = [factories.provision() for _ in range(TENANTS)]
    for one in tenants:
        fill(one)
    record.analyze()
    return tenants[1]


@pytest.fixture(scope="module")
def newcomer(tenant: Tenant) -> Tenant:
    """A tenant with as many rows, of which the statistics that were gathered before know nothing."""
    made = factories.provision()
    fill(made)
    return made


FORMS = [
    "Observation?code=http://loinc.org|c7",
    "Observation?code=http://loinc.org|c1,http://loinc.org|c2,http://loinc.org|c3",
    "Observation?status=final",
    "Observation?status=final&code=http://loinc.org|c7",
    "Observation?patient=r7",
    "Observation?patient=r7&code=http://loinc.org|c7",
    "Observation?patient=r7&date=ge2021",
    "Observation?patient=r7&value-quantity=gt150",
    "Observation?code=http://loinc.org|c7&value-quantity=gt190",
    "Observation?code=http://loinc.org|c7&status:not=final",
    "Observation?code=http://loinc.org|c7&code:missing=false",
    "Observation?date=2021-03-04",
    "Observation?date=lt2020-01-20",
    "Observation?value-quantity=5",
    "Observation?combo-code=http://loinc.org|c7",
    "Observation?combo-value-quantity=5",
    "Observation?combo-code-value-quantity=http://loinc.org|c7$gt190",
    "Observation?combo-code=http://loinc.org|c7&combo-value-quantity=gt190",
    "Observation?patient=r7&combo-value-quantity=gt150",
    "Observation?patient=r7&_sort=combo-value-quantity",
    "Observation?_id=r500,r501",
    "Observation?_lastUpdated=gt2100",
    "Observation?_sort=_lastUpdated",
    "Observation?_sort=-date",
    "Observation?_sort=date",
    "Observation?patient=r7&_sort=-date",
    "Observation?patient=r151&_sort=-date",
    "Observation?patient=r7&_sort=value-quantity",
    "Observation?patient.family=00",
    "Observation?code=http://loinc.org|c7&patient.family=c4",
    "Observation",
    "Patient?family=abc",
    "Patient?family=ab&gender=female",
    "Patient?family:contains=abcd&gender=male",
    "Patient?gender:not=male",
    "Patient?_has:Observation:patient:code=http://loinc.org|c7",
    "Location?near=47|8|10|km",
    "Patient?gender:in=http://hl7.org/fhir/ValueSet/administrative-gender",
    "Encounter?location:below=r7",
    "Encounter?location:above=r7",
]


def seen(
    tenant_id: UUID, form: str, access: Access = UNNARROWED, *, generic: bool = False
) -> list[tuple[str, list[Any]]]:
    """The statements of a search with their plans, as the runtime role in the tenant.

    A form that comes often is planned once for all values: `generic`.
    """
    type_name, _, query = form.partition("?")
    plans: list[tuple[str, list[Any]]] = []

    def run(calls: Any) -> Any:
        plans.extend((call.statement.sql.decode(), explained(call, generic=generic)) for call in calls)
        return pipeline.run(calls)

    pairs = tuple((name, value) for name, _, value in (part.partition("=") for part in query.split("&") if part))
    with tenant_context(tenant_id):
        ask = search.Ask(tenant_id, type_name, (*pairs, ("_count", "20")), now(), strict=True, access=access)
        if type_name.endswith(OPERATION):
            kind, fhir_id, _ = type_name.split("/")
            search.run_everything(ask, (kind, fhir_id), run)
        else:
            search.run_search(ask, run)
    return plans


def explained(call: Call, *, generic: bool = False) -> Any:
    """The plan of a statement that ran, for its values or for any."""
    if not generic:
        statement = Statement(b"EXPLAIN (ANALYZE, FORMAT JSON) " + call.statement.sql, b"")
        return json.loads(pipeline.run([Call(statement, call.parameters)])[0].value() or b"[]")
    values = composing.SQL(", ").join(map(composing.Literal, call.parameters))
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(b"PREPARE probe AS " + call.statement.sql)
        execute = composing.SQL("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE probe({})").format(values)
        cursor.execute(execute.as_string(connection.connection))
        (plan,) = cursor.fetchone()
        cursor.execute("DEALLOCATE probe")
    return plan


def nodes(plan: Any) -> Iterator[dict[str, Any]]:
    if isinstance(plan, dict):
        if "Node Type" in plan:
            yield plan
        for value in plan.values():
            yield from nodes(value)
    elif isinstance(plan, list):
        for value in plan:
            yield from nodes(value)


def told(node: dict[str, Any]) -> str:
    """A node of a plan on one line."""
    names = ("Node Type", "Relation Name", "Index Name", "Index Cond", "Filter", "Actual Rows", "Actual Loops")
    return " | ".join(str(node[name])[:200] for name in names if name in node)


@GENERIC
@pytest.mark.parametrize("form", FORMS)
def test_plan_of_every_form_reads_by_index(tenant: Tenant, form: str, generic: bool) -> None:
    for sql, plan in seen(tenant.id, form, generic=generic):
        scanned = [node for node in nodes(plan) if node["Node Type"] == "Seq Scan"]
        compared = sum(node.get("Rows Removed by Join Filter", 0) * node["Actual Loops"] for node in nodes(plan))
        assert not scanned, "\n".join((sql, *map(told, nodes(plan))))
        assert compared <= EACH, "\n".join((sql, *map(told, nodes(plan))))


def test_page_of_the_undated_is_read_in_full(tenant: Tenant) -> None:
    """Else no form above would show the plan of the two lists."""
    assert len(seen(tenant.id, "Observation?patient=r7&_sort=-date")) == 1
    assert len(seen(tenant.id, "Observation?patient=r151&_sort=-date")) == 2


@GENERIC
@pytest.mark.parametrize(
    "form", ["code=http://loinc.org|c7", "status=final", "_sort=-date", "_sort=status", "patient.family=c4"]
)
def test_later_page_asks_for_first_versions_by_their_key(tenant: Tenant, form: str, generic: bool) -> None:
    """Of each row that was changed after the first page, when it was created."""
    following = record.next_query(record.asked(tenant.id, "Observation", f"{form}&_count=20"))

    for sql, plan in seen(tenant.id, f"Observation?{following}", generic=generic):
        (versions,) = (node for node in nodes(plan) if node.get("Relation Name") == "fhir_api_resourceversion")
        assert "Index" in versions["Node Type"], "\n".join((sql, *map(told, nodes(plan))))
        for column in ("tenant_id", "type", "fhir_id", "version"):
            assert column in versions["Index Cond"]


NARROW = {
    "Observation?code=http://loinc.org|c7": 100,
    "Observation?code=http://loinc.org|c1,http://loinc.org|c2,http://loinc.org|c3": 150,
    "Observation?status=final": 100,
    "Observation?patient=r7": 100,
    "Observation?patient=r7&code=http://loinc.org|c7": 400,  # a merge of two keys may read both
    "Observation?patient=r7&date=ge2021": 200,
    "Observation?patient=r7&value-quantity=gt150": 200,
    "Observation?date=2021-03-04": 60,
    "Observation?_id=r500,r501": 10,
    "Observation?_sort=-date": 100,
    "Observation?_sort=date": 100,
    "Observation?patient.family=00": 400,
    "Observation": 100,
    "Patient?family=abc": 20,
    "Location?near=47|8|10|km": 100,
}


@GENERIC
@pytest.mark.parametrize("form", NARROW)
def test_page_reads_hardly_more_rows_than_it_shows(tenant: Tenant, form: str, generic: bool) -> None:
    """Of 6,300 observations and their entries, many times as many, and however frequent the value is."""
    ((_, plan),) = seen(tenant.id, form, generic=generic)

    assert sum(map(read, nodes(plan))) <= NARROW[form], "\n".join(map(told, nodes(plan)))


def read(node: dict[str, Any]) -> float:
    """The rows that a node took from a table or its index, those that it threw away among them."""
    if "Relation Name" not in node:
        return 0
    return (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]


@GENERIC
@pytest.mark.parametrize("form", [*FORMS, "Observation?code:missing=false&subject:Patient.gender:missing=false"])
def test_search_of_a_tenant_the_statistics_do_not_know_reads_each_row_once_or_twice(
    newcomer: Tenant, form: str, generic: bool
) -> None:
    """A tenant taken for empty made whole tables look cheap, and joined each row with each: 5 s for 2,000 resources."""
    for sql, plan in seen(newcomer.id, form, generic=generic):
        assert sum(map(read, nodes(plan))) <= 5 * EACH, "\n".join((sql, *map(told, nodes(plan))))


CHAINED_TWICE = [
    "Observation?patient.gender=male&patient.gender:not=female",
    "Observation?patient.gender=male&patient._lastUpdated=gt2020&_sort=-date",
    "Observation?patient.gender=male&patient.gender=female",
    "Observation?patient.gender:not=female&patient.gender:not=male&status=final",
]


@GENERIC
@pytest.mark.parametrize("form", CHAINED_TWICE)
def test_many_keys_of_a_chain_are_not_looked_up_for_each_candidate(newcomer: Tenant, form: str, generic: bool) -> None:
    """150 keys beside 3,150 candidates were half a million look-ups and 3 s."""
    for sql, plan in seen(newcomer.id, form, generic=generic):
        looked_up = sum(node["Actual Loops"] for node in nodes(plan) if "Index Name" in node)
        assert looked_up <= EACH, "\n".join((sql, *map(told, nodes(plan))))


@pytest.mark.parametrize("many", [1, 10**6])
def test_chains_find_the_same_by_each_key_and_by_all_at_once(
    tenant: Tenant, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "MANY_KEYS", many)
    totals = [
        record.asked(tenant.id, "Observation", f"{query}&_summary=count")["total"]
        for query in (form.partition("?")[2] for form in CHAINED_TWICE)
    ]
    assert totals == [3_150, 3_150, 0, 0]


OF_ONE_PATIENT = [
    "Patient",
    "Patient?family=ab",
    "Patient?_sort=family",
    "Patient?_total=accurate",
    "Observation",
    "Observation?status=final",
    "Observation?code=http://loinc.org|c7&_total=accurate",
    "Observation?_sort=date",
    "Observation?_sort=value-quantity",
    "Observation?patient.family:missing=false",
    "Practitioner?_has:Observation:performer:status=final",
    "?_type=Patient,Observation",
    f"Patient/r7/{OPERATION}",
]


@GENERIC
@pytest.mark.parametrize("form", OF_ONE_PATIENT)
def test_token_for_one_patient_reads_his_rows_only(tenant: Tenant, form: str, generic: bool) -> None:
    """Of 300 patients with 21 observations each; what a patient may see is where the search begins, if it counts to a thousand before."""
    for sql, plan in seen(tenant.id, form, Access(patient="r7"), generic=generic):
        assert sum(map(read, nodes(plan))) <= 1_400, "\n".join((sql, *map(told, nodes(plan))))


def test_everything_begins_at_the_patient(tenant: Tenant) -> None:
    for query in ("", "?start=2020-06&end=2021", "?_since=2020-01-01T00:00:00Z", "?_type=Observation"):
        for sql, plan in seen(tenant.id, f"Patient/r7/{OPERATION}{query}"):
            assert sum(map(read, nodes(plan))) <= 300, "\n".join((sql, *map(told, nodes(plan))))


HISTORIES = [
    HistoryQuery(type="Observation", patient="r7"),
    HistoryQuery(patient="r7", types=("Patient", "Observation")),
    HistoryQuery(type="Observation", fhir_id="r306", patient="r7"),
]


@pytest.mark.parametrize("query", HISTORIES)
def test_history_of_one_patient_reads_his_rows_only(tenant: Tenant, query: HistoryQuery) -> None:
    with tenant_context(tenant.id):
        for call in (page_call(tenant.id, query, after=None, limit=50), count_call(tenant.id, query)):
            plan = explained(call)
            assert sum(map(read, nodes(plan))) <= 400, "\n".join(map(told, nodes(plan)))


@GENERIC
@pytest.mark.parametrize("sql", [NAMED, LOCK_TO_CHANGE, LOCK_TO_DELETE], ids=["read", "lock", "lock_to_delete"])
def test_resources_of_names_are_looked_up_by_their_keys(tenant: Tenant, sql: str, generic: bool) -> None:
    call = Call(Statement(sql.encode(), b""), [str(tenant.id), "{1,3}", "{r7,r500}"])
    with tenant_context(tenant.id):
        plan = explained(call, generic=generic)
    read = [node for node in nodes(plan) if "Index Name" in node]
    assert {node["Index Name"] for node in read} == {"fhir_api_resource_one", "fhir_api_resource_pkey"}
    assert [node["Actual Rows"] * node["Actual Loops"] for node in read] == [2, 2]


@GENERIC
def test_rules_read_the_codes_of_a_patient_and_nothing_of_others(tenant: Tenant, generic: bool) -> None:
    """Of 21 observations of the patient and 158 of each code, the 11 that are both; each of his was looked up by each code before."""
    codes = [f"{LOINC}|{code}" for code in ("c26", "c7", "none")]
    lookup = patient_lookup(system_actor(tenant.id), "r7", ["Patient", "Observation"], {"Observation": codes})
    with tenant_context(tenant.id):
        plan = explained(lookup.calls[0], generic=generic)
    found = [node for node in nodes(plan) if "posting" in node.get("Index Name", "")]
    assert round(sum(node["Actual Rows"] * node["Actual Loops"] for node in found)) == 11, "\n".join(
        map(told, nodes(plan))
    )
    assert sum(node["Actual Loops"] for node in found) <= 1 + len(codes), "\n".join(map(told, nodes(plan)))
