"""Prescriptions in the admin: for the acting tenant, for looking only, and every look is recorded with its reason."""

import json
import re
from types import SimpleNamespace

import pytest
from django.conf import settings as django_settings
from django.db import connections, transaction

from bench.receiver import Receiver
from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from fhir_api import public as record
from fhir_api.access.models import AccessRecord
from fhir_api.models import Resource, ResourceVersion
from organizations.staff.roles import Permission, does
from prescriptions.models import (
    Prescription,
)
from tests import factories
from tests.admin.dispensary import (
    IBUPROFEN,
    LIST,
    PREFIX,
    SECRETS,
    WARFARIN,
    dispense,
    facts,
    looks,
    page,
    press,
    reverse,
)
from tests.admin.people import REASON, act_in, signed_in, staff
from tests.prescriptions.ward import done, item, refused, ward
from tests.webhooks.worlds import drain


@pytest.fixture(scope="module")
def receiver():
    with pytest.MonkeyPatch.context() as patch, Receiver() as found:
        patch.setattr(django_settings, "WEBHOOKS_ALLOW_PRIVATE_DESTINATIONS", True)
        yield found


@pytest.fixture(scope="module")
def seen(receiver):
    """A clinic with a prescription at a pharmacy and a draft; both tenants hear of their prescriptions."""
    both = ward()
    for side, name in ((both.clinic, "clinic"), (both.pharmacy, "pharmacy")):
        admin = factories.as_member(side.tenant, ["tenant_admin"])
        answer = admin.post("/v1/webhooks", json={"url": f"{receiver.url}/{name}", "events": ["prescription.*"]})
        assert answer.status_code == 201, answer.content
    routed = both.routed(notes_to_pharmacy="Secret knee")
    draft = both.draft()
    drain()
    browser = signed_in()
    act_in(browser, both.clinic.tenant)
    return SimpleNamespace(ward=both, routed=routed, draft=draft, browser=browser)


def timeline(text):
    """The words of the timeline, without marks."""
    inner = re.search(r'<ol id="timeline">(.*?)</ol>', text, re.DOTALL)
    assert inner
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", inner[1]))


# -- the list and the page of one --------------------------------------------------------------------------------------


def test_list_shows_numbers_and_states_and_is_recorded(seen):
    clinic = seen.ward.clinic.tenant
    before = len(looks(clinic))
    text = page(seen.browser, "prescription/")

    assert seen.routed["number"] in text
    assert seen.draft["number"] in text
    assert not any(secret in text for secret in SECRETS)
    (look,) = looks(clinic)[before:]
    assert (look.resource_type, look.resource_id, look.reason) == ("Prescription", "", REASON)
    assert (look.count, look.patients) == (Prescription.objects.using("platform").filter(tenant_id=clinic.id).count(), [seen.ward.patient_id])  # fmt: skip
    assert look.credential == "staff:administrator"


@pytest.mark.parametrize(
    ("query", "there"),
    [
        ("status__exact=routed", True),
        ("status__exact=draft", False),
        ("expired=no", True),
        ("expired=yes", False),
        ("expired=perhaps", False),
        ("dispense_status__exact=none", True),
        ("dispense_status__exact=partial", False),
        ("place=01234567-89ab-7def-8123-456789abcdef", False),
        ("place=nowhere", False),
        ("stuck=unacknowledged", False),
        ("stuck=nothing", False),
    ],
)
def test_list_is_narrowed(seen, query, there):
    assert (seen.routed["number"] in page(seen.browser, f"prescription/?{query}")) is there


def test_list_is_searched_by_number_and_id(seen):
    for wanted in (seen.routed["number"], seen.routed["id"]):
        text = page(seen.browser, f"prescription/?q={wanted}")
        assert seen.routed["id"] in text
        assert seen.draft["id"] not in text
    assert seen.routed["id"] not in page(seen.browser, f"prescription/?q={seen.routed['number'][:-1]}")


def test_page_tells_one_timeline_and_is_recorded_on_both_sides(seen, receiver):
    clinic, pharmacy = seen.ward.clinic.tenant, seen.ward.pharmacy.tenant
    before, there_before = len(looks(clinic)), len(looks(pharmacy))
    text = page(seen.browser, f"prescription/{seen.routed['id']}/change/")
    told = timeline(text)

    order = [
        "1. created history",
        "2. validated history",
        "draft → clinically_validated; by prescriber",
        "3. signed history",
        "4. routed history",
        "signed → routed",
        "Route to Pharmacy at the Corner route",
    ]
    places = [told.find(part) for part in order]
    assert -1 not in places
    assert places == sorted(places)
    for part in ("Validation: passed", "not evaluated: age.limit", "state sent"):
        assert part in told
    assert [f"MedicationRequest, version {number} written" in told for number in (1, 2, 3, 4)] == [True] * 3 + [False]
    assert told.count("Webhook to the owner: prescription.") == 4
    assert told.count("Webhook to Pharmacy at the Corner: prescription.routed webhook") == 1
    assert told.count("delivered after 1 attempt") == 5
    assert f"to {receiver.url}/clinic" in told
    assert f"{receiver.url}/pharmacy" not in text
    assert 'name="_save"' not in text
    assert f"{item()['medication']['display']} ({item()['medication']['code']})" in text
    (look,) = looks(clinic)[before:]
    assert (look.resource_id, look.patients, look.reason) == (seen.routed["id"], [seen.ward.patient_id], REASON)
    (there,) = looks(pharmacy)[there_before:]
    assert (there.resource_id, there.patients, there.reason) == (seen.routed["id"], [seen.ward.patient_id], REASON)


def test_dispensing_and_reversing_are_told(seen):
    both = seen.ward
    one = both.routed()
    done(both.at_pharmacy(one, "acknowledge"))
    reverse(both, one, dispense(both, one, quantity="7"), "wrong_item")
    dispense(both, one, not_dispensed_reason="out_of_stock")
    told = timeline(page(seen.browser, f"prescription/{one['id']}/change/"))

    for part in (
        "5. acknowledged history",
        "state acknowledged acknowledged 20",
        "partially dispensed history",
        "Dispensed, fill 1: part dispensing",
        "line 1: 7 {unit}".format(unit=item()["quantity"]["unit"]),
        "dispense reversed history",
        "Dispensation of fill 1 reversed",
        "reason wrong_item",
        "line 1: not dispensed, out_of_stock",
        "by the pharmacy",
        "MedicationDispense, version 2 written",
        "Event for Pharmacy at the Corner: prescription.partially_dispensed",
    ):
        assert part in told, part
    assert "pharmacist" not in told


def test_links_of_the_timeline_open(seen):
    text = page(seen.browser, f"prescription/{seen.routed['id']}/change/")
    links = set(re.findall(r'href="(/admin/(?:fhir_api/resource|webhooks/delivery)/[^"]+)"', text))
    assert len(links) >= 7
    assert {seen.browser.get(link).status_code for link in links} == {200}
    (away,) = set(re.findall(r'href="(/admin/acting-tenant/\?tenant=[^"]+)"', text))
    assert str(seen.ward.pharmacy.tenant.id) in away
    assert seen.browser.get(away.replace("&amp;", "&")).status_code == 200


def test_overrides_and_open_issues_are_told(seen):
    both = seen.ward
    two = both.draft(item(WARFARIN), item(IBUPROFEN))
    blocked = refused(
        both.prescriber.post(f"/v1/prescriptions/{two['id']}/sign", json={}), 422, "clinical_validation_failed"
    )
    overrides = [
        {"fingerprint": issue["fingerprint"], "reason_code": "monitoring_in_place", "text": "Secret knee"}
        for issue in blocked["run"]["issues"]
        if issue["needs"] != "none"
    ]
    assert overrides
    done(both.prescriber.post(f"/v1/prescriptions/{two['id']}/validate", json={"overrides": overrides}))
    told = timeline(page(seen.browser, f"prescription/{two['id']}/change/"))

    for part in (
        "validation blocked history",
        "Validation: blocked",
        "high interaction.drug_drug (line 1, 2): open",
        "override recorded history",
        "Validation: passed with overrides",
        "high interaction.drug_drug (line 1, 2): overridden, monitoring_in_place",
    ):
        assert part in told, part
    assert "Secret knee" not in told


def test_export_is_recorded(seen):
    clinic = seen.ward.clinic.tenant
    before = len(looks(clinic))
    answer = seen.browser.get(f"{LIST}export/")
    assert answer.status_code == 200
    assert seen.routed["number"] in answer.content.decode()
    assert looks(clinic)[before:][-1].parameters == ["export"]


PATHS = (
    "prescription/",
    "prescription/{id}/change/",
    "prescription/stuck/",
    "prescription/figures/",
    "recurringtreatment/",
)


@pytest.mark.parametrize("path", PATHS)
def test_without_acting_tenant_or_role_nothing_is_shown(seen, path):
    before = len(looks(seen.ward.clinic.tenant))
    address = f"{PREFIX}/{path.format(id=seen.routed['id'])}"
    answer = signed_in().get(address)
    assert (answer.status_code, answer.url.partition("?")[0]) == (302, "/admin/acting-tenant/")
    support = signed_in("support")
    act_in(support, seen.ward.clinic.tenant)
    assert support.get(address).status_code == 403
    assert len(looks(seen.ward.clinic.tenant)) == before


def test_other_tenants_prescription_is_not_there(seen):
    other = signed_in()
    act_in(other, seen.ward.pharmacy.tenant)
    assert other.get(f"{LIST}{seen.routed['id']}/change/").status_code == 302
    assert seen.routed["number"] not in page(other, "prescription/")


def test_pharmacy_sees_what_it_received_and_the_way_to_the_owner(seen):
    pharmacy = seen.ward.pharmacy.tenant
    browser = signed_in()
    act_in(browser, pharmacy)
    before = len(looks(pharmacy))
    for query in ("", "?status=routed", "?route_state=sent", f"?q={seen.routed['number']}"):
        text = page(browser, f"receivedprescription/{query}")
        assert seen.routed["number"] in text
        assert not any(secret in text for secret in SECRETS)
    for query in ("?status=signed", "?status=none", "?route_state=returned"):
        assert seen.routed["number"] not in page(browser, f"receivedprescription/{query}")
    text = page(browser, f"receivedprescription/{seen.routed['id']}/change/")
    assert item()["medication"]["display"] in text
    assert f"/admin/acting-tenant/?tenant={seen.ward.clinic.tenant.id}" in text
    look = looks(pharmacy)[-1]
    assert len(looks(pharmacy)) == before + 8
    assert (look.resource_id, look.patients, look.reason) == (seen.routed["id"], [seen.ward.patient_id], REASON)


def test_no_name_gets_into_address_or_log(seen, lines):
    for path in PATHS:
        page(seen.browser, path.format(id=seen.routed["id"]))
    assert "request" in lines.getvalue()
    assert not any(secret in lines.getvalue() for secret in SECRETS)


# -- project again -----------------------------------------------------------------------------------------------------


def request_of(one):
    return Resource.objects.using("platform").get(fhir_id=one["items"][0]["id"])


def test_projecting_again_writes_what_differs_only(seen):
    person, clinic = staff(), seen.ward.clinic.tenant
    one = seen.ward.routed()
    before = request_of(one)
    path = f"prescription/{one['id']}/do/project/"

    same = press(person, clinic, path).content.decode()
    assert "1 compared, none written" in same
    assert request_of(one).version == before.version
    wrong = json.loads(before.body) | {"status": "on-hold"}
    with tenant_context(clinic.id):
        record.project(system_actor(clinic.id), [wrong], at=now())
    assert '"status":"on-hold"' in request_of(one).body
    mended = press(person, clinic, path).content.decode()

    assert "1 of 1 MedicationRequests differed" in mended
    after = request_of(one)
    assert (after.version, '"status":"active"' in after.body) == (before.version + 2, True)
    past = ResourceVersion.objects.using("platform").filter(fhir_id=before.fhir_id)
    assert past.count() == before.version + 1
    told = facts(person)
    assert [one for one in told if one[1]] == [("staff_action.performed", "prescription.project", REASON)] * 2
    assert done(seen.ward.prescriber.get(f"/v1/prescriptions/{one['id']}"))["version"] == one["version"]


@pytest.mark.parametrize("role", ["security", "support"])
def test_projecting_needs_the_permission_and_a_reason(seen, role):
    person = staff(role)
    assert not does(person, Permission.PROJECT_RECORDS)
    path = f"prescription/{seen.routed['id']}/do/project/"
    assert press(person, seen.ward.clinic.tenant, path).status_code == 403
    chief = staff()
    assert press(chief, seen.ward.clinic.tenant, path, reason="no").status_code == 200
    assert facts(chief) == []


# -- verify evidence ---------------------------------------------------------------------------------------------------


def test_sound_evidence_is_told_and_recorded(seen):
    person, clinic = staff("security"), seen.ward.clinic.tenant
    text = press(person, clinic, f"prescription/{seen.routed['id']}/do/verify/").content.decode()

    assert "The evidence is sound: the digest is that of the text; the signature holds;" in text
    assert "the history is whole; no checkpoint holds it yet (4 entries)." in text
    assert facts(person) == [("staff_action.performed", "prescription.verify", REASON)]
    with tenant_context(clinic.id):
        (look,) = AccessRecord.objects.filter(tenant_id=clinic.id, interaction="rx.verify", subject_id=person.pk)
    assert (look.resource_id, look.patients, look.reason) == (seen.routed["id"], [seen.ward.patient_id], REASON)


def test_tampered_evidence_raises_the_alarm_and_stays_recorded(seen):
    one, person = seen.ward.routed(), staff("security")
    with transaction.atomic("owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('hp.may_change', 'prescriptions_auditentry', true)")
        cursor.execute(_TAMPER, [one["id"]])
        assert cursor.rowcount == 1
    text = press(person, seen.ward.clinic.tenant, f"prescription/{one['id']}/do/verify/").content.decode()

    assert "The evidence has faults: the history is not whole." in text
    assert facts(person) == [("staff_action.performed", "prescription.verify", REASON)]


_TAMPER = "UPDATE prescriptions_auditentry SET action = 'returned' WHERE prescription_id = %s AND sequence = 4"


def test_draft_has_no_evidence_to_verify(seen):
    text = page(seen.browser, f"prescription/{seen.draft['id']}/change/")
    assert f"{seen.draft['id']}/do/verify/" not in text
    assert f"{seen.routed['id']}/do/verify/" in page(seen.browser, f"prescription/{seen.routed['id']}/change/")
    assert (
        press(staff("support"), seen.ward.clinic.tenant, f"prescription/{seen.routed['id']}/do/verify/").status_code
        == 403
    )
