"""Carrying exports out: one time for all that is in them, whoever writes, dies or cancels meanwhile."""

import os
import signal
import threading
import time
from datetime import timedelta

from django.db import OperationalError, connection

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.rounds import until
from fhir_api.exports import batches, files, states, tasks, worker
from fhir_api.exports.models import ExportFile
from fhir_api.intentions import Write
from fhir_api.models import Method
from fhir_api.writes import perform
from tests.fhir_api.clients import code_of, patient
from tests.fhir_api.exports.asking import begun, carry_out, exported, fetched, jobs, manifest
from tests.races import race


def populated(client, count, kind="Patient", **more):
    """Resources made in one transaction; their ids."""
    entry = {"request": {"method": "POST", "url": kind}, "resource": {"resourceType": kind, **more}}
    answer = client.post("", {"resourceType": "Bundle", "type": "transaction", "entry": [entry] * count})
    assert answer.status_code == 200, answer.content
    return [one["response"]["location"].split("/")[-3] for one in answer.json()["entry"]]


def newest(client):
    return jobs(client.tenant)[-1]


def started(client, kind="Patient"):
    """An export whose time has come, before its first batch."""
    status = begun(client, f"/$export?_type={kind}")
    end = time.monotonic() + 20
    while newest(client).state == states.QUEUED and time.monotonic() < end:
        worker.advance(client.tenant.id, newest(client).id, at=now())
    assert newest(client).state == states.RUNNING
    return status


def files_of(job):
    with tenant_context(job.tenant_id):
        return ExportFile.objects.filter(tenant_id=job.tenant_id, job=job).count()


def step(client):
    return worker.advance(client.tenant.id, newest(client).id, at=now())


def finished(client, status):
    done = carry_out(client, status)
    assert done.status_code == 200, done.content
    return fetched(client, done.json()["output"])


def test_record_is_exported_as_it_was_whatever_is_written_meanwhile(fresh, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 2)
    people = sorted(populated(fresh, 8))
    before = {fhir_id: fresh.get(f"/Patient/{fhir_id}").json() for fhir_id in people}
    status = started(fresh)
    for number in (0, 7):
        assert fresh.delete(f"/Patient/{people[number]}").status_code == 204
    assert step(fresh)
    for number in (0, 1, 3, 5, 6, 7):  # deleted ones come again
        fresh.put(f"/Patient/{people[number]}", {**before[people[number]], "active": True})
        fresh.put(f"/Patient/{people[number]}", {**before[people[number]], "active": False})
    for fhir_id in ("0-before-all", "zz-behind-all", people[4] + "-between"):
        assert fresh.put(f"/Patient/{fhir_id}", patient(id=fhir_id)).status_code == 201
    found = finished(fresh, status)
    assert [one["id"] for one in found] == people
    assert {one["id"]: one for one in found} == before


def test_what_was_begun_before_and_committed_after_is_waited_for(client):
    begun_before, may_commit, failures = threading.Event(), threading.Event(), []

    def late():
        try:
            with tenant_context(client.tenant.id):
                write = Write(
                    Method.PUT, "PractitionerRole", "late", resource={"resourceType": "PractitionerRole", "id": "late"}
                )
                perform(system_actor(client.tenant.id), [write], at=now())
                begun_before.set()
                may_commit.wait(20)
        except Exception as error:
            failures.append(error)
        finally:
            begun_before.set()
            connection.close()

    writer = threading.Thread(target=late)
    writer.start()
    begun_before.wait(20)
    status = begun(client, "/$export?_type=PractitionerRole")
    worker.carry_on(go_on=until(0.5))
    job = newest(client)
    assert (job.state, len(job.waits_for)) == (states.QUEUED, 1)
    may_commit.set()
    writer.join(20)
    assert failures == []
    assert [one["id"] for one in finished(client, status)] == ["late"]


def forked_worker():
    """A process of its own at the same work; it must neither use nor close what it has of this one's connection."""
    pid = os.fork()
    if pid:
        return pid
    try:
        held, connection.connection = connection.connection, None
        worker.carry_on(go_on=until(30))
        del held
    finally:
        os._exit(0)


def test_killed_workers_leave_neither_doubles_nor_gaps(client, monkeypatch, settings, long):
    settings.LANES = 4
    monkeypatch.setattr(batches, "RESOURCES", 3)
    people, wanted = populated(client, 900 if long else 200, "Practitioner"), 30 if long else 4
    status, kills = started(client, "Practitioner"), 0
    while newest(client).state == states.RUNNING and kills < wanted:
        before = newest(client).examined
        pid = forked_worker()
        end = time.monotonic() + 20
        while newest(client).examined == before and time.monotonic() < end:
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        kills += 1
    assert kills == wanted
    assert sorted(one["id"] for one in finished(client, status)) == sorted(people)
    assert newest(client).exported == len(people)


def test_workers_at_the_same_export_never_do_a_batch_twice(client, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 2)
    people = populated(client, 30, "Location")
    status = started(client, "Location")
    race(*[lambda: worker.carry_on(go_on=until(20))] * 3)
    assert sorted(one["id"] for one in finished(client, status)) == sorted(people)


def test_cancelling_beside_workers_leaves_nothing(client, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 1)
    populated(client, 30, "Organization", name="Org")
    status = started(client, "Organization")

    def cancel():
        time.sleep(0.1)
        return client.delete(status).status_code

    _, answer, second = race(lambda: worker.carry_on(go_on=until(20)), cancel, cancel)
    assert sorted([answer, second]) == [202, 404]
    assert newest(client).state == states.CANCELLED
    assert step(client) is False
    tasks.sweep()
    assert files_of(newest(client)) == 0


def test_batches_are_bounded_by_bytes(fresh, monkeypatch):
    monkeypatch.setattr(batches, "BYTES", 5_000)
    people = populated(fresh, 12, name=[{"family": "x" * 2_000}])
    status = started(fresh)
    sizes = []

    def appended(job, kind, type_name, lines, **more):
        sizes.append(sum(map(len, lines)))
        return append(job, kind, type_name, lines, **more)

    append = files.append
    monkeypatch.setattr(files, "append", appended)
    assert sorted(one["id"] for one in finished(fresh, status)) == sorted(people)
    assert len([size for size in sizes if size]) == 4
    assert max(sizes) < 5_000 + 2_500, "the bound and one resource"
    assert newest(fresh).examined == 12


def test_resource_larger_than_the_bound_comes_alone(client, monkeypatch):
    monkeypatch.setattr(batches, "BYTES", 100)
    people = populated(client, 3, "Condition", subject={"display": "Eva"})
    assert {fhir_id for _, fhir_id in exported(client, "/$export?_type=Condition")} == set(people)


def test_task_carries_exports_on(client):
    people = populated(client, 2)
    status = begun(client, "/$export?_type=Patient")
    tasks.carry_on()
    assert {one["id"] for one in finished(client, status)} >= set(people)


def test_export_of_nothing_has_no_files(client):
    told = manifest(client, "/$export?_type=Encounter")
    assert (told["output"], told["error"]) == ([], [])


def test_trouble_is_kept_and_after_an_hour_it_has_failed(client, monkeypatch):
    status = started(client)

    def broken(*_):
        raise OperationalError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(worker, "read_batch", broken)
        job = newest(client)
        for hours, state in ((0, states.RUNNING), (0, states.RUNNING), (2, states.FAILED)):
            assert worker._try(client.tenant.id, job.id, now() + timedelta(hours=hours)) is False
            assert newest(client).state == state
    answer = client.get(status)
    assert (answer.status_code, code_of(answer)) == (500, "export_failed")
    assert "OperationalError" in answer.json()["issue"][0]["diagnostics"]
    assert "disk" not in answer.content.decode()


def test_one_bad_moment_is_forgotten(client):
    status = started(client)
    worker._note(client.tenant.id, newest(client).id, "OperationalError", now())
    assert newest(client).error == "OperationalError"
    assert finished(client, status)
    assert newest(client).error == ""


def test_export_that_waits_for_ever_has_failed(client):
    status = begun(client)
    job = newest(client)
    endless = connection.copy()
    try:
        endless.set_autocommit(False)
        endless.cursor().execute("SELECT 1")
        for hours, state in ((0, states.QUEUED), (0.9, states.QUEUED), (1.1, states.FAILED)):
            worker.advance(client.tenant.id, job.id, at=now() + timedelta(hours=hours))
            job = newest(client)
            assert job.state == state
    finally:
        endless.close()
    assert job.error == "writes_never_ended"
    assert client.get(status).status_code == 500


def test_export_waits_for_clocks_that_go_after_ours(client, monkeypatch):
    monkeypatch.setattr("fhir_api.exports.settling.CLOCKS", timedelta(seconds=60))
    status = begun(client)
    assert step(client) is False
    assert newest(client).waits_for is None
    assert client.get(status).status_code == 202
    assert client.delete(status).status_code == 202
