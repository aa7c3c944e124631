"""`import_fhir`: files into a tenant, again and again."""

import gzip
import json
import time
from codecs import BOM_UTF8
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from core import pipeline
from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api.bundles import imports
from fhir_api.models import Resource
from tests.fhir_api import data
from tests.fhir_api.bundles.making import batch, entry, history, transaction, urn
from tests.fhir_api.clients import identified, observation, patient, prescriber
from tests.races import race


@pytest.fixture
def api():
    return prescriber()


def imported(api, capsys, *paths):
    call_command("import_fhir", *map(str, paths), "--tenant", str(api.tenant.id))
    return capsys.readouterr().out


def test_resources_are_written_under_their_ids_and_once(api, tmp_path, capsys):
    people = [patient(id=f"p{n}") for n in range(450)]
    file = tmp_path / "people.ndjson.gz"
    slot = {"resourceType": "Slot", "id": "m"}
    file.write_bytes(gzip.compress(b"\n".join(json.dumps(one).encode() for one in [*people, slot]) + b"\n\n"))
    assert imported(api, capsys, file).startswith(
        "450 written, 0 unchanged, 0 Bundles imported before, 1 of other types"
    )
    before = history(api)
    assert len(before) == 450
    assert imported(api, capsys, file).startswith("0 written, 450 unchanged")
    assert history(api) == before


def test_bundles_are_carried_out_once(api, tmp_path, capsys):
    who = urn()
    one = transaction(entry("POST", "Patient", patient(), who), entry("POST", "Observation", observation(who)))
    file = tmp_path / "bundles.json"
    file.write_text(json.dumps([one, batch(entry("POST", "Patient", patient()))]))
    assert imported(api, capsys, file).startswith("3 written")
    before = history(api)
    assert imported(api, capsys, file).startswith("0 written, 0 unchanged, 2 Bundles imported before")
    assert history(api) == before


def test_import_that_was_broken_off_is_carried_on(api, tmp_path, capsys):
    file = tmp_path / "bundles.ndjson"
    bundles = [transaction(entry("POST", "Patient", patient(multipleBirthInteger=n + 1))) for n in range(5)]
    file.write_text("\n".join(json.dumps(one) for one in bundles))
    work = imports.Import(system_actor(api.tenant.id))
    with file.open("rb") as opened:
        running = work.take(imports.lines(opened, file.name))
        next(running), next(running)  # two Bundles, then the process is gone
    assert imported(api, capsys, file).startswith("3 written, 0 unchanged, 2 Bundles imported before")
    assert len(history(api)) == 5


def test_refused_entries_of_a_batch_are_tried_again_and_the_others_are_not(api, tmp_path, capsys):
    file, twin = tmp_path / "batch.json", urn()
    sent = batch(
        entry("POST", "Patient", patient(), twin),
        entry("POST", "Observation", observation("Patient/later")),
        entry("POST", "Observation", observation("Patient?identifier=urn:mrn|later")),
        entry("POST", "Observation", observation(twin)),
        entry("POST", "Patient", patient(gender="mann")),
    )
    file.write_text(json.dumps(sent))

    def told():
        with pytest.raises(CommandError) as error:
            imported(api, capsys, file)
        return capsys.readouterr().out[:26], [line.split(": ")[1][-2:] for line in str(error.value).splitlines()[1:]]

    assert told() == ("1 written, 0 unchanged, 0 ", ["1]", "2]", "3]", "4]"])
    assert told() == ("0 written, 0 unchanged, 0 ", ["1]", "2]", "3]", "4]"])
    api.put("/Patient/later", identified("later", id="later"))
    assert told() == ("2 written, 0 unchanged, 0 ", ["3]", "4]"])
    assert len(history(api)) == 4


def test_batch_is_remembered_once_none_of_its_entries_is_refused(api, tmp_path, capsys):
    file = tmp_path / "batch.json"
    file.write_text(
        json.dumps(
            batch(
                entry("POST", "Patient", patient()),
                entry(
                    "PUT", "Patient/a", patient(id="a", link=[{"other": {"reference": "Patient/b"}, "type": "seealso"}])
                ),
            )
        )
    )
    with pytest.raises(CommandError):
        imported(api, capsys, file)
    api.put("/Patient/b", patient(id="b"))
    assert imported(api, capsys, file).partition("written")[2].startswith(", 0 unchanged, 0 Bundles imported before")
    assert imported(api, capsys, file).startswith("0 written, 0 unchanged, 1 Bundles imported before")
    assert len(history(api)) == 3


def test_two_imports_of_one_file_at_once_try_refused_entries_again_once(api):
    sent = batch(*(entry("POST", "Observation", observation("Patient/later")) for _ in range(3)))
    items = [imports.Item("batch", sent)]

    def work():
        running = imports.Import(system_actor(api.tenant.id))
        list(running.take(iter(items)))
        return running.tally

    assert work().refused == 3
    api.put("/Patient/later", patient(id="later"))
    tallies = race(work, work, work)
    assert sorted((tally.written, tally.repeated) for tally in tallies) == [(0, 1), (0, 1), (3, 0)]
    assert len(history(api)) == 4


def test_each_transaction_of_an_import_bears_its_own_time(api):
    """An export that runs meanwhile would miss what appears with the time at which the import began."""
    kinds = [transaction(entry("POST", "Patient", patient())), batch(entry("POST", "Patient", patient()))]
    items = [imports.Item(str(n), one) for n, one in enumerate([*kinds, patient(id="alone")])]
    before = now()
    for count, _ in enumerate(imports.Import(system_actor(api.tenant.id)).take(iter(items)), 1):
        with tenant_context(api.tenant.id):
            written = Resource.objects.filter(last_updated__gte=before - timedelta(milliseconds=1))
            assert (written.count(), Resource.objects.count()) == (1, count)
        time.sleep(0.005)
        before = now()


def test_refused_documents_are_named_and_the_others_written(api, tmp_path):
    file = tmp_path / "people.ndjson"
    people = [patient(id=f"p{n}") for n in range(20)]
    people[7]["gender"] = "mann"
    del people[9]["id"]
    bundle = transaction(entry("POST", "Patient", patient(gender="mann")))
    file.write_text("\n".join(json.dumps(one) for one in [*people, bundle]))
    with pytest.raises(CommandError) as error:
        call_command("import_fhir", str(file), "--tenant", str(api.tenant.id))
    told = str(error.value)
    assert all(place in told for place in ("people.ndjson:8: Patient.gender", "people.ndjson:10", "people.ndjson:21"))
    assert "Bundle.entry[0].resource.gender" in told
    assert "mann" not in told
    assert len(history(api)) == 18


def test_many_refused_documents_cost_few_trips(api):
    """An import of observations before their patients: all of them are refused, each is told of, the rest is written."""
    lost = [{**observation(f"Patient/nobody-{n}"), "id": f"lost-{n}"} for n in range(150)]
    broken = [{**patient(), "id": f"broken-{n}", "gender": "unheard of"} for n in range(10)]
    found = [{**patient(), "id": f"found-{n}"} for n in range(30)]
    items = [imports.Item(f"a file:{n}", one) for n, one in enumerate([*lost, *broken, *found], 1)]
    work, taken = imports.Import(system_actor(api.tenant.id)), []
    pipeline.observers.append(taken.append)
    try:
        list(work.take(iter(items)))
    finally:
        pipeline.observers.remove(taken.append)
    assert (work.tally.written, work.tally.refused) == (30, 160)
    assert len(taken) < 20
    first, *_ = work.tally.reasons
    assert first.startswith("a file:151: Patient.gender: ")
    assert "a file:1: Observation.subject.reference: There is no Patient/nobody-0." in work.tally.reasons


def named(count, prefix="p"):
    return [json.dumps(patient(id=f"{prefix}{n}")).encode() for n in range(count)]


def told(api, capsys, *paths):
    """The tally and the reasons of an import of which something was refused."""
    with pytest.raises(CommandError) as error:
        imported(api, capsys, *paths)
    return capsys.readouterr().out, str(error.value).splitlines()[1:]


def test_lines_that_cannot_be_read_are_told_and_the_others_written(api, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(imports, "LIMIT_BYTES", 3_000_000)
    monkeypatch.setattr(imports, "_PIECE_BYTES", 1_000)
    good, file = named(8), tmp_path / "people.ndjson"
    bad = [
        b"{not json",
        b'{"resourceType":"Patient","id":"b\xff"}',
        b'{"resourceType":"Patient","id":"' + b"x" * 3_005_000 + b'"}',
        b'{"a":' * 200 + b"1" + b"}" * 200,
        b'{"id":"untyped"}',
        b"[]",
    ]
    mixed = [line for pair in zip(good, bad, strict=False) for line in pair] + good[len(bad) :]
    file.write_bytes(BOM_UTF8 + b"\n".join(mixed))
    tally, reasons = told(api, capsys, file)
    assert tally.startswith("8 written, 0 unchanged, 0 Bundles imported before, 0 of other types left out, 6 refused.")
    assert [reason.split(": ")[0] for reason in reasons] == [f"people.ndjson:{n}" for n in (2, 4, 6, 8, 10, 12)]
    assert len(history(api)) == 8


def test_file_that_ends_too_soon_is_told_and_what_stands_before_it_written(api, tmp_path, capsys):
    names = ("cut.ndjson.gz", "plain.json.gz", "never.json", "faulty.json", "list.json", "whole.ndjson.gz")
    cut, plain, never, faulty, several, sound = files = [tmp_path / name for name in names]
    content = b"\n".join(
        json.dumps(patient(id=f"p{n}", name=[{"text": uuid7_text() * 9}])).encode() for n in range(900)
    )
    cut.write_bytes(gzip.compress(content)[:-2_000])
    plain.write_bytes(named(1)[0])
    faulty.write_text("[1,")
    several.write_bytes(BOM_UTF8 + b"[1," + named(1, "of-list-")[0] + b"]")
    sound.write_bytes(gzip.compress(b"\n".join(named(3, "q"))))
    tally, reasons = told(api, capsys, *files)
    places = [reason.split(": ")[0] for reason in reasons]
    written = len(history(api))
    assert 800 < written < 904
    assert tally.startswith(f"{written} written, ")
    assert places == [f"cut.ndjson.gz:{written - 3}", "plain.json.gz", str(never), "faulty.json", "list.json[0]"]


def test_unknown_tenant_is_told(tmp_path):
    with pytest.raises(CommandError, match="no tenant"):
        call_command("import_fhir", str(tmp_path), "--tenant", "nobody")


def test_synthea_is_imported(api, capsys):
    files = [data.path("prerequisite_batches.json"), data.path("patient_transactions_small20.ndjson.gz")]
    assert imported(api, capsys, *files).startswith("3473 written, 0 unchanged")
    assert len(history(api)) == 3_473
