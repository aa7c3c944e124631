"""The access log: what a record says, who may change it (nobody), how it is asked, and how long it is kept."""

import json
from datetime import timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.db import DatabaseError, ProgrammingError, connection, connections, transaction

from core import clock, pipeline
from core.db import bind_tenant, tenant_context
from core.history.partitions import ALIAS, ask, read_ranges
from fhir_api import tasks
from fhir_api.access import upkeep
from fhir_api.access.models import AccessPatient, AccessRecord
from fhir_api.access.patients import patients_of
from fhir_api.access.queries import Question, records
from fhir_api.access.records import Access, InvalidReason, call, reason_of, record
from tests.factories import actor_of, provision


@pytest.fixture
def tenant():
    return provision()


@pytest.fixture
def actor(tenant):
    return actor_of(tenant, ("prescriber",))


def rows(tenant, **conditions):
    with tenant_context(tenant.id):
        return list(AccessRecord.objects.filter(tenant_id=tenant.id, **conditions).order_by("created_at", "id"))


def asked(tenant, **wanted):
    at = clock.now()
    question = Question(since=at - timedelta(days=2), until=at + timedelta(minutes=1), **wanted)
    with tenant_context(tenant.id):
        return records(tenant.id, question)


def test_record_says_who_read_what_of_whom(tenant, actor):
    record(
        actor,
        Access(
            "search",
            "Observation",
            parameters=["code", "patient", "code"],
            patients=("p-1", "p-2"),
            count=7,
            reason="Patient unconscious, no consent",
        ),
    )
    (row,) = rows(tenant)
    assert (row.subject_id, row.subject_kind, row.credential) == (actor.subject.id, "user", "session:test")
    assert (row.membership_id, row.tenant_id) == (actor.membership_id, tenant.id)
    assert (row.interaction, row.resource_type, row.resource_id) == ("search", "Observation", "")
    assert (row.parameters, row.patients, row.count, row.outcome) == (["code", "patient"], ["p-1", "p-2"], 7, 200)
    assert row.reason == "Patient unconscious, no consent"
    assert abs((row.created_at - clock.now()).total_seconds()) < 60
    with tenant_context(tenant.id):
        named = AccessPatient.objects.filter(tenant_id=tenant.id, id=row.id).values_list("patient", "created_at")
        assert sorted(named) == [("p-1", row.created_at), ("p-2", row.created_at)]


@pytest.mark.parametrize(
    ("access", "expected"),
    [
        (Access("read", "Patient", "p"), 1),
        (Access("read", "Patient", "p", outcome=404), 1),
        (Access("history"), 1),
        (Access("read", "Location", "l", count=1), 0),
        (Access("search", "Practitioner", count=3), 0),
        (Access("search", "Practitioner", patients=("p",), count=3), 1),
    ],
)
def test_only_reads_of_patients_data_leave_a_record(tenant, actor, access, expected):
    record(actor, access)
    assert len(rows(tenant)) == expected


def test_record_takes_one_trip_alone_and_shares_that_of_a_transaction(tenant, actor):
    trips = []
    pipeline.observers.append(trips.append)
    try:
        record(actor, Access("read", "Patient", "p-1", patients=("p-1",), count=1))
        with transaction.atomic():
            bind_tenant(tenant.id)
            pipeline.run([call(actor, Access("read", "Patient", "p-2", patients=("p-2",), count=1))])
    finally:
        pipeline.observers.remove(trips.append)
    assert len(trips) == 2
    assert [row.resource_id for row in rows(tenant)] == ["p-1", "p-2"]


def test_rollback_takes_the_record_along(tenant, actor):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        bind_tenant(tenant.id)
        record(actor, Access("read", "Patient", "p-1"))
        raise ZeroDivisionError
    assert rows(tenant) == []


def test_record_of_another_tenant_cannot_be_written_nor_read(tenant, actor):
    other = provision()
    with pytest.raises(ProgrammingError), transaction.atomic():
        bind_tenant(other.id)
        pipeline.run([call(actor, Access("read", "Patient", "p-1", patients=("p-1",)))])
    record(actor, Access("read", "Patient", "p-1", patients=("p-1",)))
    with tenant_context(other.id):
        assert not AccessRecord.objects.filter(tenant_id=tenant.id).exists()
        assert not AccessPatient.objects.filter(tenant_id=tenant.id).exists()


@pytest.mark.parametrize("statement", ["UPDATE {} SET tenant_id = tenant_id", "DELETE FROM {}", "TRUNCATE {}"])
@pytest.mark.parametrize("table", ["fhir_api_accessrecord", "fhir_api_accesspatient", "fhir_api_accessrecord_rest"])
def test_nobody_changes_or_deletes_records(tenant, actor, table, statement):
    record(actor, Access("read", "Patient", "p-1", patients=("p-1",), count=1))
    with pytest.raises(DatabaseError), tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute(statement.format(table))
    if not table.endswith("_rest"):  # whoever owns a table could drop it as well; the service never signs in as that
        with pytest.raises(DatabaseError), transaction.atomic("owner"), connections["owner"].cursor() as cursor:
            cursor.execute(statement.format(table))
    assert len(rows(tenant)) == 1


def test_log_is_asked_by_patient_by_reader_and_for_emergencies(tenant, actor):
    other = actor_of(tenant, ("nurse",))
    record(actor, Access("read", "Patient", "p-1", patients=("p-1",)))
    record(other, Access("search", "Condition", patients=("p-1", "p-2"), reason="Patient unconscious"))
    record(other, Access("read", "Patient", "p-2", patients=("p-2",)))
    assert [row.interaction for row in asked(tenant, patient="p-1")] == ["search", "read"]
    assert [row.resource_id for row in asked(tenant, subject_id=other.subject.id)] == ["p-2", ""]
    assert [row.interaction for row in asked(tenant, emergencies=True)] == ["search"]
    assert [row.resource_id for row in asked(tenant, limit=1)] == ["p-2"]
    assert asked(tenant, patient="p-3") == []


def test_command_answers_an_auditor(tenant, actor, capsys):
    record(actor, Access("read", "Patient", "p-1", patients=("p-1",), count=1, reason="Patient unconscious"))
    call_command("fhir_access", tenant=tenant.slug, patient="p-1", json=True)
    (found,) = json.loads(capsys.readouterr().out)["records"]
    assert (found["subject_id"], found["patients"]) == (str(actor.subject.id), ["p-1"])
    call_command("fhir_access", tenant=str(tenant.id), break_glass=True)
    said = capsys.readouterr().out
    assert "read Patient/p-1, patient p-1" in said
    assert "EMERGENCY: Patient unconscious" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "no tenant"),
        ({"tenant": "nobody-has-this"}, "no tenant"),
        ({"subject": "me"}, "takes an id"),
        ({"since": "yesterday"}, "ISO 8601"),
        ({"until": "0001-01-02"}, "--until lies between"),
        ({"since": "0001-01-01T00:00+14:00"}, "--since lies between"),
        ({"until": "9999-12-31T23:59-12:00"}, "--until lies between"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "--since is before --until"),
        ({"limit": -5}, "--limit takes a whole number from 1 up"),
        ({"limit": 0}, "--limit takes a whole number from 1 up"),
    ],
)
def test_command_refuses_what_makes_no_sense(tenant, options, message):
    known = {"tenant": tenant.slug} if "tenant" not in options and options else {}
    with pytest.raises(CommandError, match=message):
        call_command("fhir_access", **known, **options)


@pytest.mark.parametrize("header", ["", "too short", "x" * 501, "line\nbreak in it"])
def test_reason_of_emergency_is_checked(header):
    with pytest.raises(InvalidReason):
        reason_of(header)


def test_reason_of_emergency_is_kept_as_it_was_said():
    assert reason_of(None) == ""
    assert reason_of("  Patient unconscious, allergies unknown ") == "Patient unconscious, allergies unknown"


def body(**members):
    return json.dumps(members, separators=(",", ":")).encode()


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        (("Patient", "p-1", b"{}"), ("p-1",)),
        (("Patient", "p-1", None), ("p-1",)),
        (("Observation", "o", body(subject={"reference": "Patient/p-2"})), ("p-2",)),
        (("Observation", "o", body(subject={"display": "A", "reference": "Patient/p-2/_history/3"})), ("p-2",)),
        (("Observation", "o", body(subject={"identifier": {"value": "1"}, "reference": "Patient/p-2"})), ("p-2",)),
        (("Observation", "o", body(subject={"reference": "http://testserver/fhir/R4/Patient/p-2"})), ("p-2",)),
        (("Observation", "o", body(subject={"reference": "https://elsewhere.example/fhir/Patient/p-2"})), ()),
        (("Observation", "o", body(subject={"reference": "Group/g"})), ()),
        (("Observation", "o", body(subject={"reference": "#p"})), ()),
        (("Observation", "o", body(subject={"display": "Jane"})), ()),
        (("Observation", "o", body(subject="odd")), ()),
        (("Observation", "o", body(status="final")), ()),
        (("Observation", "o", None), ()),
        (
            (
                "Condition",
                "c",
                body(contained=[{"subject": {"reference": "Patient/no"}}], subject={"reference": "Patient/p-2"}),
            ),
            ("p-2",),
        ),
        (("Location", "l", body(subject={"reference": "Patient/p-2"})), ()),
    ],
)
def test_patients_are_those_whom_the_resource_is_about(resource, expected):
    assert patients_of([resource]) == expected


def test_patients_are_named_once_and_in_order():
    found = [("Encounter", "e", body(subject={"reference": f"Patient/{name}"})) for name in ("b", "a", "b")]
    assert patients_of([*found, ("Patient", "a", None)]) == ("a", "b")


@pytest.fixture
def months():
    """The log's tables as one default partition, before and after."""
    yield from _flat()


def _flat():
    tables = [history.table for history in upkeep.HISTORIES]

    def drop():
        with connections["owner"].cursor() as cursor:
            for table in tables:
                for one in read_ranges(table):
                    cursor.execute(f"DROP TABLE {one.name}")

    drop()
    yield tables
    drop()


def old_months(tables, at, *days):
    for table in tables:
        for age in days:
            day = (at - timedelta(days=age)).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
            until = (day + timedelta(days=32)).replace(day=1)
            ask("SELECT hp_history_make(%s, %s, %s)", table, day, until)


def test_upkeep_makes_months_ahead_and_drops_those_past_their_years(months, settings):
    at = clock.now()
    old_months(months, at, 2400, 1000)
    kept = upkeep.keep_records(at=at)
    assert len(kept.dropped) == 2
    assert kept.strays == {}
    for table in months:
        names = [one.name for one in read_ranges(table)]
        assert len(names) >= 3
        assert not set(kept.dropped) & set(names)
    assert upkeep.keep_records(at=at).made == []


def test_database_itself_keeps_a_year(months):
    at = clock.now()
    old_months(months, at, 200, 500)
    young, old = (one.name for one in sorted(read_ranges(months[0]), reverse=True))
    for name, keep, message in (
        (young, "365 days", "not old enough"),
        (old, "30 days", "365 days at least"),
        ("fhir_api_resource", "400 days", "not old enough"),
    ):
        with pytest.raises(DatabaseError, match=message), connections[ALIAS].cursor() as cursor:
            cursor.execute("SELECT hp_access_drop(%s, %s, %s)", [months[0], name, keep])
    with pytest.raises(DatabaseError, match="not of the webhooks"), connections[ALIAS].cursor() as cursor:
        cursor.execute("SELECT hp_history_drop(%s, %s, %s)", [months[0], old, "400 days"])
    with pytest.raises(DatabaseError, match="not the access log"), connections[ALIAS].cursor() as cursor:
        cursor.execute("SELECT hp_access_drop('webhooks_event', %s, '400 days')", [old])
    with pytest.raises(DatabaseError, match="permission denied"), connection.cursor() as cursor:
        cursor.execute("SELECT hp_access_drop(%s, %s, '400 days')", [months[0], old])
    assert len(read_ranges(months[0])) == 2


def test_task_and_command_keep_the_months(months, capsys):
    tasks.keep()
    assert all(read_ranges(table) for table in months)
    call_command("fhir_access", keep=True)
    assert "0 made, 0 dropped, strays: none" in capsys.readouterr().out


@pytest.mark.parametrize("days", [0, 364, 36_501])
def test_setting_out_of_bounds_is_told_and_nothing_is_touched(months, settings, days):
    settings.FHIR_ACCESS_DAYS = days
    assert [one.id for one in upkeep.check_settings()] == ["fhir_api.E001"]
    with pytest.raises(ImproperlyConfigured):
        upkeep.keep_records(at=clock.now())
    assert all(read_ranges(table) == [] for table in months)


def test_log_of_a_patient_is_found_by_the_index(tenant, actor):
    for number in range(30):
        record(actor, Access("read", "Patient", f"p-{number}", patients=(f"p-{number}",)))
    with tenant_context(tenant.id), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        rows = AccessPatient.objects.filter(
            tenant_id=tenant.id, patient="p-7", created_at__gte=clock.now() - timedelta(days=1)
        )
        plan = rows.explain()
    assert "Index" in plan
    assert "patient" in plan.split("Index Cond", 1)[1].split("Filter", 1)[0]
