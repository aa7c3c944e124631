"""Stuck work and figures of prescriptions in the admin: counts that are those of the rows, and looks that are recorded."""

import re
from datetime import timedelta
from types import SimpleNamespace

import pytest

from core.clock import now
from core.db import tenant_context
from prescriptions.models import (
    Dispensation,
    Prescription,
    RecurringTreatment,
    Route,
)
from tests import factories
from tests.admin.dispensary import IBUPROFEN, SECRETS, WARFARIN, aged, cell_texts, dispense, looks, page, reverse
from tests.admin.people import act_in, signed_in
from tests.prescriptions.ward import item, refused, ward

# -- stuck work --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stuck():
    """A clinic whose work is stuck in each way; times are set back as the owner of the database."""
    both = ward()
    waiting, partial, fresh = (both.routed() for _ in range(3))
    both.clinic.policies(prescription_validity_days=1)
    expiring = both.routed()
    aged(Route, {"prescription_id": waiting["id"]}, routed_at=now() - timedelta(hours=25))
    clinic = both.clinic.tenant
    for one, days in ((partial, 15), (fresh, 1)):
        given = dispense(both, one, quantity="7")
        aged(Dispensation, {"id": given["id"]}, created_at=now() - timedelta(days=days))
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


def treatment(both, **values):
    with tenant_context(both.clinic.tenant.id):
        return RecurringTreatment.objects.create(
            tenant=both.clinic.tenant, patient_id=both.patient_id, prescriber_id=both.practitioner_id, every=1, unit="month",
            items=[item()], start_date=now().date(), base_date=now().date(), anchor_day=1, created_by=factories.actor_of(both.clinic.tenant).subject_id, **values,
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
    assert item()["medication"]["display"] in text
    assert "template_gone" in text
    (look,) = looks(stuck.ward.clinic.tenant)[before:]
    assert (look.resource_type, look.resource_id) == ("RecurringTreatment", str(stuck.paused.pk))


# -- figures -----------------------------------------------------------------------------------------------------------


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
    reverse(both, one, dispense(both, one, quantity="7"), "wrong_item")
    dispense(both, one, quantity="21")
    dispense(both, two, not_dispensed_reason="out_of_stock")
    for each, at, hours in zip((one, two), signed, (1, 3), strict=True):
        aged(Route, {"prescription_id": each["id"]}, acknowledged_at=at + timedelta(hours=hours))
        aged(Prescription, {"id": each["id"]}, dispensed_at=at + timedelta(hours=2 * hours))
    before = len(looks(clinic))

    text = page(browser, "prescription/figures/")

    assert cell_texts(text, "days-table") == [[f"{now():%Y-%m-%d}", "2", "0", "0", "0", "2", "0"]]
    lags = cell_texts(text, "lags")
    assert [row[0] for row in lags] == [
        "draft to signature",
        "signature to acknowledgement",
        "acknowledgement to dispensed",
    ]
    assert lags[1][1:] == ["2 h", "2 h 48 min", "2"]
    assert lags[2][1:] == ["2 h", "2 h 48 min", "2"]
    assert lags[0][3] == "2"
    for part in ("interaction.drug_drug</span>", "0 of 1, 0 %", "out of stock</span>", "wrong item</span>"):
        assert part in text, part
    assert "1 of 3 dispensations was reversed." in text
    assert text.count("<rect") == 91 + 2
    (look,) = looks(clinic)[before:]
    assert (look.parameters, look.patients, look.count) == (["charts"], [], 4)
    assert not any(secret in text for secret in (*SECRETS, both.patient_id))
    act_in(browser, both.pharmacy.tenant)
    assert "No prescription was made." in page(browser, "prescription/figures/")
