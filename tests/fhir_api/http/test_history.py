"""Point 39: histories of a resource, a type and all resources."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api.models import Resource
from tests.fhir_api.clients import BASE, code_of, patient, prescriber


@pytest.fixture(scope="module")
def doctor():
    return prescriber()


def lived(doctor):
    """A patient that was created, changed, patched, deleted and put again."""
    found = doctor.made(patient())
    path = f"/Patient/{found['id']}"
    doctor.put(path, {**found, "gender": "other"})
    doctor.patch(path, {"gender": "male"}, media="application/merge-patch+json")
    doctor.delete(path)
    doctor.put(path, patient(id=found["id"]))
    return found["id"]


def links(bundle):
    return {link["relation"]: link["url"] for link in bundle["link"]}


def follow(doctor, url):
    return doctor.get(url.partition(BASE)[2])


def test_instance_history_tells_every_version_newest_first(doctor, settings):
    fhir_id = lived(doctor)
    bundle = doctor.get(f"/Patient/{fhir_id}/_history").json()
    assert (bundle["resourceType"], bundle["type"], bundle["total"]) == ("Bundle", "history", 5)
    found = [
        (one["request"]["method"], one["request"]["url"], one["response"]["status"], one["response"]["etag"])
        for one in bundle["entry"]
    ]
    assert found == [
        ("PUT", f"Patient/{fhir_id}", "200", 'W/"5"'),
        ("DELETE", f"Patient/{fhir_id}", "204", 'W/"4"'),
        ("PATCH", f"Patient/{fhir_id}", "200", 'W/"3"'),
        ("PUT", f"Patient/{fhir_id}", "200", 'W/"2"'),
        ("POST", "Patient", "201", 'W/"1"'),
    ]
    assert ["resource" in one for one in bundle["entry"]] == [True, False, True, True, True]
    for one in bundle["entry"]:
        assert one["fullUrl"] == f"{settings.FHIR_BASE_URL}/Patient/{fhir_id}"
        if "resource" in one:
            assert one["response"]["lastModified"] == one["resource"]["meta"]["lastUpdated"]
            assert one["response"]["etag"] == f'W/"{one["resource"]["meta"]["versionId"]}"'
    assert links(bundle)["self"] == f"{settings.FHIR_BASE_URL}/Patient/{fhir_id}/_history"


def test_history_of_the_unknown_is_404_and_of_the_deleted_is_told(doctor):
    answer = doctor.get(f"/Patient/{uuid7_text()}/_history")
    assert (answer.status_code, code_of(answer)) == (404, "resource_not_found")
    found = doctor.made(patient())
    doctor.delete(f"/Patient/{found['id']}")
    bundle = doctor.get(f"/Patient/{found['id']}/_history").json()
    assert [one["request"]["method"] for one in bundle["entry"]] == ["DELETE", "POST"]


def test_type_and_system_history_hold_their_types_and_a_total():
    doctor = prescriber()
    place = doctor.made({"resourceType": "Location", "name": "Ward"})
    fhir_id = lived(doctor)
    of_type = doctor.get("/Patient/_history").json()
    assert (of_type["total"], len(of_type["entry"])) == (5, 5)
    of_all = doctor.get("/_history").json()
    assert (of_all["total"], [one["fullUrl"].rpartition("/")[2] for one in of_all["entry"]]) == (
        6,
        [fhir_id] * 5 + [place["id"]],
    )
    assert doctor.get("/Encounter/_history").json()["total"] == 0
    assert "entry" not in doctor.get("/Encounter/_history").json()


def test_pages_show_every_version_once_though_others_are_written_meanwhile():
    doctor = prescriber()
    ids = [lived(doctor) for _ in range(5)]
    bundle = doctor.get("/_history?_count=4").json()
    assert bundle["total"] == 25
    seen = list(bundle["entry"])
    while url := links(bundle).get("next"):
        doctor.put(f"/Patient/{ids[0]}", patient(id=ids[0], multipleBirthInteger=len(seen)))
        bundle = follow(doctor, url).json()
        assert bundle["total"] == 25
        assert len(bundle["entry"]) <= 4
        seen.extend(bundle["entry"])
    versions = [(one["fullUrl"], one["response"]["etag"]) for one in seen]
    assert (len(versions), len(set(versions))) == (25, 25)
    moments = [one["response"]["lastModified"] for one in seen]
    assert moments == sorted(moments, reverse=True)


def test_versions_of_one_resource_stand_in_their_order_whatever_clock_they_are_of(doctor):
    path = f"/Patient/{lived(doctor)}"
    with tenant_context(doctor.tenant.id):
        Resource._base_manager.filter(fhir_id=path[9:]).update(last_updated=now() - timedelta(days=1))
    bundle, seen = doctor.get(f"{path}/_history?_count=2").json(), []
    while True:
        seen += [one["response"]["etag"] for one in bundle["entry"]]
        if "next" not in links(bundle):
            break
        bundle = follow(doctor, links(bundle)["next"]).json()
    assert seen == [f'W/"{number}"' for number in (5, 4, 3, 2, 1)]


def test_since_and_at_choose_by_time(doctor):
    fhir_id = uuid7_text()
    path = f"/Patient/{fhir_id}"
    moments = []
    for number in range(1, 4):
        doctor.put(path, patient(id=fhir_id, multipleBirthInteger=number))
        time.sleep(0.02)
        moments.append(datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        time.sleep(0.02)

    def numbers(query):
        return [
            int(one["response"]["etag"][3:-1]) for one in doctor.get(f"{path}/_history?{query}").json().get("entry", [])
        ]

    assert numbers(f"_since={moments[0]}") == [3, 2]
    assert numbers(f"_since={moments[2]}") == []
    assert numbers(f"_since={moments[0].replace('Z', '+00:00')}") == [3, 2]  # the plus sign arrives as a space
    assert numbers(f"_at={moments[0]}") == [1]
    assert numbers(f"_at={moments[1]}") == [2]
    assert numbers(f"_at={moments[2]}") == [3]
    assert numbers(f"_at={moments[2][:4]}") == [3, 2, 1]
    assert numbers("_at=2001-02") == []
    assert doctor.get(f"{path}/_history?_since={moments[2]}").json()["total"] == 0


@pytest.mark.parametrize(
    "query",
    [
        "_since=yesterday",
        "_since=2026-01-01",
        "_since=2026-02-30T00:00:00Z",
        "_since=9999-12-31T23:59:59-14:00",
        "_at=2026-13",
        "_at=9999",
        "_at=9999-12-31",
        "_at=9999-12-31T23:59:59Z",
        "_at=0001-01-01T00:00:00%2B14:00",
        "_at=x",
        "_count=-1",
        "_count=many",
        "_count=1.5",
        "_cursor=forged",
    ],
)
def test_malformed_parameters_are_400(doctor, query):
    for path in ("/_history", "/Patient/_history"):
        answer = doctor.get(f"{path}?{query}")
        assert answer.status_code == 400, answer.content


def test_count_0_tells_the_total_alone_and_above_the_maximum_is_cut(doctor):
    fhir_id = lived(doctor)
    bundle = doctor.get(f"/Patient/{fhir_id}/_history?_count=0").json()
    assert (bundle["total"], "entry" in bundle, set(links(bundle))) == (5, False, {"self"})
    for count in ("5000", "9" * 5_000):
        bundle = doctor.get(f"/Patient/{fhir_id}/_history?_count={count}").json()
        *versions, told = bundle["entry"]
        assert (len(versions), links(bundle)["self"].partition("?")[2]) == (5, "_count=1000")
        assert told["fullUrl"].startswith("urn:uuid:")
        assert told["response"]["outcome"]["issue"][0]["details"]["coding"][0]["code"] == "count_capped"


def test_39_links_show_what_was_used(doctor):
    path = f"/Patient/{lived(doctor)}/_history"
    bundle = doctor.get(f"{path}?_since=&_count=2&_at=&_count=2&_format=json").json()
    assert links(bundle)["self"].endswith(f"{path}?_count=2&_format=json")
    assert len(follow(doctor, links(bundle)["next"]).json()["entry"]) == 2
    for query in ("_count=1&_count=2", "_since=2026-01-01T00:00:00Z&_since=2027-01-01T00:00:00Z", "_at=2026&_at=2027"):
        answer = doctor.get(f"{path}?{query}")
        assert (answer.status_code, code_of(answer)) == (400, "repeated_parameter")


def test_cursor_of_another_list_or_tenant_is_refused(doctor):
    fhir_id = lived(doctor)
    url = links(doctor.get(f"/Patient/{fhir_id}/_history?_count=2").json())["next"]
    cursor = url.partition("_cursor=")[2]
    assert follow(doctor, url).status_code == 200
    assert code_of(doctor.get(f"/Patient/_history?_cursor={cursor}")) == "invalid_cursor"
    assert code_of(follow(prescriber(), url)) == "invalid_cursor"
    assert code_of(follow(doctor, f"{url}&_since=2026-01-01T00:00:00Z")) == "invalid_cursor"


@pytest.mark.parametrize("name", ["_sort", "_list", "foo"])
def test_unknown_parameter_is_left_out_with_a_warning_or_refused(doctor, name):
    path = f"/Patient/{lived(doctor)}/_history"
    bundle = doctor.get(f"{path}?{name}=x&_count=2").json()
    assert all(name not in url for url in links(bundle).values())
    assert [links(bundle)["self"], len(bundle["entry"])] == [links(doctor.get(f"{path}?_count=2").json())["self"], 3]
    (issue,) = bundle["entry"][-1]["response"]["outcome"]["issue"]
    code = issue["details"]["coding"][0]["code"]
    assert (issue["severity"], issue["code"], code) == ("warning", "not-supported", "unknown_parameter")
    refused = doctor.get(f"{path}?{name}=x", Prefer="handling=strict")
    assert (refused.status_code, code_of(refused)) == (400, "unknown_parameter")
    assert doctor.get(f"{path}?_count=2&_format=json", Prefer="handling=strict").status_code == 200
