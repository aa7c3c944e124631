"""Prescriptions in the admin: for the acting tenant, for looking only, and every look is recorded with its reason."""

import json
import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.conf import settings as django_settings

from bench.receiver import Receiver
from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from fhir_api import public as record
from fhir_api.access.models import AccessRecord
from fhir_api.models import Resource, ResourceVersion
from ledger.models import Event as Fact
from organizations.staff.roles import Permission, does
from prescriptions.models import Dispensation, Prescription, PrescriptionItem, RecurringTreatment, Route
from tests import factories
from tests.admin.people import REASON, act_in, signed_in, staff
from tests.prescriptions.ward import RXNORM, done, item, refused, ward
from tests.webhooks.worlds import drain

PREFIX = "/admin/prescriptions"
LIST = f"{PREFIX}/prescription/"
WARFARIN = {"system": RXNORM, "code": "855332", "display": "Warfarin Sodium 5 MG Oral Tablet"}
IBUPROFEN = {"system": RXNORM, "code": "197806", "display": "Ibuprofen 600 MG Oral Tablet"}
SECRETS = ("Muster", "Hauptstr", "Secret knee")


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


def looks(tenant):
    with tenant_context(tenant.id):
        rows = AccessRecord.objects.filter(tenant_id=tenant.id, interaction="staff")
        return list(rows.order_by("created_at", "id"))


def page(browser, path=""):
    answer = browser.get(f"{PREFIX}/{path}")
    assert answer.status_code == 200, answer.content[-500:]
    return answer.content.decode()


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
    assert "amoxicillin 250 MG Oral Capsule (308182)" in text
    (look,) = looks(clinic)[before:]
    assert (look.resource_id, look.patients, look.reason) == (seen.routed["id"], [seen.ward.patient_id], REASON)
    (there,) = looks(pharmacy)[there_before:]
    assert (there.resource_id, there.patients, there.reason) == (seen.routed["id"], [seen.ward.patient_id], REASON)


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


def test_no_name_gets_into_address_or_log(seen, lines):
    for path in PATHS:
        page(seen.browser, path.format(id=seen.routed["id"]))
    assert "request" in lines.getvalue()
    assert not any(secret in lines.getvalue() for secret in SECRETS)


# -- project again -----------------------------------------------------------------------------------------------------


def press(person, tenant, path, **more):
    chosen = signed_in(person=person)
    act_in(chosen, tenant)
    return chosen.post(f"{PREFIX}/{path}", {"reason": REASON, **more}, follow=True)


def facts(person):
    rows = Fact.objects.using("platform").filter(subject_id=person.pk).exclude(type__startswith="staff_access")
    return [
        (row.type, row.data.get("action", ""), row.data.get("reason", "")) for row in rows.order_by("occurred_at", "id")
    ]


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


# -- stuck work --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stuck():
    """A clinic whose work is stuck in each way; times are set back as the owner of the database."""
    both = ward()
    waiting, partial, fresh = (both.routed() for _ in range(3))
    both.clinic.policies(prescription_validity_days=1)
    expiring = both.routed()
    aged(Route, {"prescription_id": waiting["id"]}, routed_at=now() - timedelta(hours=25))
    aged(Prescription, {"id": partial["id"]}, dispense_status="partial")
    clinic = both.clinic.tenant
    for one, name in ((partial, "old"), (fresh, "new")):
        when = now() - timedelta(days=15 if name == "old" else 1)
        dispensation(both, one, when)
    aged(Prescription, {"id": fresh["id"]}, dispense_status="partial")
    paused = treatment(both)
    with tenant_context(clinic.id):
        paused.pause("template_gone")
        paused.save_version("status", "pause_reason", at=now())
    late = treatment(both, drafts_from=now() - timedelta(hours=2))
    treatment(both, drafts_from=now() + timedelta(hours=2))
    browser = signed_in()
    act_in(browser, clinic)
    found = {"unacknowledged": waiting, "partial": partial, "expiring": expiring}
    return SimpleNamespace(ward=both, browser=browser, found=found, fresh=fresh, paused=paused, late=late)


def aged(model, which, **values):
    """Set what only time or the other party could set."""
    assert model.objects.using("owner").filter(**which).update(**values) == 1


def dispensation(both, one, at):
    actor = factories.actor_of(both.clinic.tenant)
    with tenant_context(both.clinic.tenant.id):
        Dispensation.objects.create(
            tenant=both.clinic.tenant, prescription_id=one["id"], fill_number=1, is_partial=True, handed_over_at=at,
            pharmacy_location_id=both.pharmacy_id, dispenser_tenant_id=both.pharmacy.tenant.id, created_at=at,
            dispensed_by=actor.subject_id,
        )  # fmt: skip


def treatment(both, **values):
    with tenant_context(both.clinic.tenant.id):
        return RecurringTreatment.objects.create(
            tenant=both.clinic.tenant, patient_id=both.patient_id, prescriber_id=both.practitioner_id, every=1, unit="month",
            items=[item()], start_date=now().date(), created_by=factories.actor_of(both.clinic.tenant).subject_id, **values,
        )  # fmt: skip


def test_stuck_work_is_counted_with_links(stuck):
    before = len(looks(stuck.ward.clinic.tenant))
    text = page(stuck.browser, "prescription/stuck/")

    for name, one in stuck.found.items():
        card = re.search(rf'<section id="stuck-{name}".*?</section>', text, re.DOTALL)[0]
        assert re.search(r'line-height: 1.2">(\d+)</a>', card)[1] == "1"
        assert one["number"] in card
        listed = page(stuck.browser, f"prescription/?stuck={name}")
        numbers = {other["number"] for other in [*stuck.found.values(), stuck.fresh] if other["number"] in listed}
        assert numbers == {one["number"]}
    for name, one in (("paused", stuck.paused), ("undrawn", stuck.late)):
        card = re.search(rf'<section id="stuck-{name}".*?</section>', text, re.DOTALL)[0]
        assert re.search(r'line-height: 1.2">(\d+)</a>', card)[1] == "1"
        assert str(one.pk) in card
        listed = page(stuck.browser, f"recurringtreatment/?stuck={name}")
        assert [str(other.pk) in listed for other in (stuck.paused, stuck.late)] == [
            one is stuck.paused,
            one is stuck.late,
        ]
    assert "template_gone" in text
    look = looks(stuck.ward.clinic.tenant)[before]
    assert (look.parameters, look.patients, look.count) == (["stuck"], [stuck.ward.patient_id], 5)
    assert not any(secret in text for secret in SECRETS)


def test_expiring_follows_the_policy(stuck):
    stuck.ward.clinic.policies(prescription_expiring_days=0)
    assert stuck.found["expiring"]["number"] not in page(stuck.browser, "prescription/?stuck=expiring")
    stuck.ward.clinic.policies(prescription_expiring_days=2)
    assert stuck.found["expiring"]["number"] in page(stuck.browser, "prescription/?stuck=expiring")


def test_page_of_a_recurring_treatment_is_recorded(stuck):
    before = len(looks(stuck.ward.clinic.tenant))
    text = page(stuck.browser, f"recurringtreatment/{stuck.paused.pk}/change/")
    assert "amoxicillin 250 MG" in text
    assert "template_gone" in text
    (look,) = looks(stuck.ward.clinic.tenant)[before:]
    assert (look.resource_type, look.resource_id) == ("RecurringTreatment", str(stuck.paused.pk))


# -- figures -----------------------------------------------------------------------------------------------------------


def cell_texts(text, name):
    """The cells of a table, row by row."""
    body = re.search(rf'id="{name}">.*?<tbody>(.*?)</tbody>', text, re.DOTALL)[1]
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td.*?</td>", row)] for row in body.split("</tr>")[:-1]
    ]


def test_figures_are_those_of_the_rows_and_the_look_is_recorded():
    both = ward()
    clinic = both.clinic.tenant
    browser = signed_in()
    act_in(browser, clinic)
    assert "No prescription was made." in page(browser, "prescription/figures/")
    one, two = both.routed(), both.routed()
    both.draft()
    risky = both.draft(item(WARFARIN), item(IBUPROFEN))
    refused(both.prescriber.post(f"/v1/prescriptions/{risky['id']}/sign", json={}), 422, "clinical_validation_failed")
    signed = [Prescription.objects.using("platform").get(pk=each["id"]).signed_at for each in (one, two)]
    aged(Route, {"prescription_id": one["id"]}, acknowledged_at=signed[0] + timedelta(hours=1))
    aged(Route, {"prescription_id": two["id"]}, acknowledged_at=signed[1] + timedelta(hours=3))
    aged(Prescription, {"id": one["id"]}, dispensed_at=signed[0] + timedelta(hours=2, seconds=5))
    aged(PrescriptionItem, {"prescription_id": two["id"]}, not_dispensed_reason="out_of_stock", status="not_dispensed")
    for each in (one, one, two):
        dispensation(both, each, now())
    gone = Dispensation.objects.using("platform").filter(prescription_id=one["id"]).order_by("id")[0]
    aged(Dispensation, {"id": gone.pk}, status="reversed", reversed_at=now(), reversal_reason_code="wrong_item")
    before = len(looks(clinic))

    text = page(browser, "prescription/figures/")

    assert cell_texts(text, "days-table") == [[f"{now():%Y-%m-%d}", "2", "0", "0", "2", "0", "0"]]
    lags = cell_texts(text, "lags")
    assert [row[0] for row in lags] == [
        "draft to signature",
        "signature to acknowledgement",
        "acknowledgement to dispensed",
    ]
    assert lags[1][1:] == ["2 h", "2 h 48 min", "2"]
    assert lags[2][1:] == ["1 h", "1 h", "1"] or lags[2][1:] == ["1 h 5 s", "1 h 5 s", "1"]
    assert lags[0][3] == "2"
    for part in ("interaction.drug_drug</span>", "0 of 1, 0 %", "out of stock</span>", "wrong item</span>"):
        assert part in text, part
    assert "1 of 3 dispensations was reversed." in text
    assert text.count("<rect") == 91 + 2
    (look,) = looks(clinic)[before:]
    assert (look.parameters, look.patients, look.count) == (["charts"], [], 4)
    assert not any(secret in text for secret in (*SECRETS, both.patient_id))


def test_figures_of_another_tenant_are_not_there(seen):
    browser = signed_in()
    act_in(browser, factories.provision("provider"))
    assert "No prescription was made." in page(browser, "prescription/figures/")
