"""Carrying exports out: one time for all that is in them, whoever writes, dies or cancels meanwhile."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from django.db import OperationalError, connection

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from fhir_api.exports import batches, files, states, tasks, worker
from fhir_api.exports.models import ExportJob
from fhir_api.intentions import Write
from fhir_api.models import Method
from fhir_api.writes import perform
from tests.fhir_api.clients import code_of, patient
from tests.fhir_api.exports.asking import begun, carry_out, exported, fetched, jobs, kept, manifest
from tests.races import race


def populated(client, count, **more):
    """Patients made in one transaction; their ids."""
    entry = {"request": {"method": "POST", "url": "Patient"}, "resource": patient(**more)}
    bundle = {"resourceType": "Bundle", "type": "transaction", "entry": [entry] * count}
    answer = client.post("", bundle)
    assert answer.status_code == 200, answer.content
    return [one["response"]["location"].split("/")[-3] for one in answer.json()["entry"]]


def newest(client):
    return jobs(client.tenant)[-1]


def started(client, path="/$export?_type=Patient"):
    """An export whose time has come, before its first batch."""
    status = begun(client, path)
    end = time.monotonic() + 20
    while newest(client).state == states.QUEUED and time.monotonic() < end:
        worker.advance(client.tenant.id, newest(client).id, at=now())
    assert newest(client).state == states.RUNNING
    return status


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


def test_what_was_begun_before_and_committed_after_is_waited_for(fresh):
    begun_before, may_commit, failures = threading.Event(), threading.Event(), []

    def late():
        try:
            with tenant_context(fresh.tenant.id):
                write = Write(Method.PUT, "Patient", "late", resource=patient(id="late"))
                perform(system_actor(fresh.tenant.id), [write], at=now())
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
    status = begun(fresh, "/$export?_type=Patient")
    worker.carry_on(seconds=0.5)
    job = newest(fresh)
    assert (job.state, len(job.waits_for)) == (states.QUEUED, 1)
    may_commit.set()
    writer.join(20)
    assert failures == []
    assert [one["id"] for one in finished(fresh, status)] == ["late"]


_WORKER = """
import django, sys
from datetime import timedelta
django.setup()
from fhir_api.exports import batches, settling, worker
batches.RESOURCES = 3
settling.CLOCKS = timedelta(0)
print("ready", flush=True)
worker.carry_on(seconds=30)
"""


def test_killed_workers_leave_neither_doubles_nor_gaps(fresh, service_environment, monkeypatch, long):
    monkeypatch.setattr(batches, "RESOURCES", 3)
    people = populated(fresh, 3000 if long else 300)
    status = started(fresh)
    environment = {**os.environ, **service_environment, "DJANGO_SETTINGS_MODULE": "config.settings"}
    kills = 0
    while newest(fresh).state == states.RUNNING and kills < (20 if long else 1):
        before = newest(fresh).examined
        process = subprocess.Popen([sys.executable, "-c", _WORKER], env=environment, stdout=subprocess.PIPE)
        process.stdout.readline()
        while newest(fresh).examined == before and newest(fresh).state == states.RUNNING:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        kills += 1
    assert kills == (20 if long else 1)
    assert sorted(one["id"] for one in finished(fresh, status)) == sorted(people)
    assert newest(fresh).exported == len(people)


def test_workers_at_the_same_export_never_do_a_batch_twice(fresh, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 2)
    people = populated(fresh, 60)
    status = started(fresh)
    race(*[lambda: worker.carry_on(seconds=20)] * 3)
    assert sorted(one["id"] for one in finished(fresh, status)) == sorted(people)


def test_cancelling_beside_workers_leaves_nothing(fresh, monkeypatch):
    monkeypatch.setattr(batches, "RESOURCES", 1)
    populated(fresh, 40)
    status = started(fresh)

    def cancel():
        time.sleep(0.1)
        return fresh.delete(status).status_code

    _, answer, second = race(lambda: worker.carry_on(seconds=20), cancel, cancel)
    assert sorted([answer, second]) == [202, 404]
    assert newest(fresh).state == states.CANCELLED
    assert step(fresh) is False
    tasks.sweep()
    assert kept(fresh.tenant) == (0, 0)


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


def test_resource_larger_than_the_bound_comes_alone(fresh, monkeypatch):
    monkeypatch.setattr(batches, "BYTES", 100)
    people = populated(fresh, 3)
    assert {fhir_id for _, fhir_id in exported(fresh, "/$export?_type=Patient")} == set(people)


def test_task_carries_exports_on(client):
    people = populated(client, 2)
    status = begun(client, "/$export?_type=Patient")
    tasks.carry_on()
    assert {one["id"] for one in finished(client, status)} >= set(people)


def test_export_of_nothing_has_no_files(fresh):
    told = manifest(fresh, "/$export?_type=Condition,Encounter")
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


def test_export_that_waits_for_ever_has_failed(fresh):
    status = begun(fresh)
    with tenant_context(fresh.tenant.id):
        long_ago = now() - timedelta(hours=2)
        ExportJob.objects.filter(tenant_id=fresh.tenant.id).update(created_at=long_ago, waits_for=["9/999"])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("fhir_api.exports.settling.open_transactions", lambda: {"9/999"})
        step(fresh)
    assert (newest(fresh).state, newest(fresh).error) == (states.FAILED, "writes_never_ended")
    assert fresh.get(status).status_code == 500


def test_export_waits_for_clocks_that_go_after_ours(fresh, monkeypatch):
    monkeypatch.setattr("fhir_api.exports.settling.CLOCKS", timedelta(seconds=60))
    status = begun(fresh)
    assert step(fresh) is False
    assert newest(fresh).waits_for is None
    assert fresh.get(status).status_code == 202
