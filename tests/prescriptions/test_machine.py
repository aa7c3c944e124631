"""Both sides of a prescription driven at random: whatever they try, what must hold holds.

After each step: a refusal changes nothing, a success raises the version by one, and no more is dispensed than prescribed.
At the end of each sequence: the copies equal their owner's rows, the history is unbroken, each entry has its event, and
the record has one version of each MedicationRequest for each change.
"""

from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from core.db import tenant_context
from core.invariants import breaches
from ledger import public as ledger
from prescriptions.lifecycle.chain import START, chained, hashed_form
from prescriptions.lifecycle.chain_models import AuditEntry
from tests.prescriptions.ward import done, item

SILENT = {"override_recorded"}
QUANTITY = Decimal(6)
FILLS = 2


class Sides(RuleBasedStateMachine):
    """A prescription of two fills between a clinic and two places of a pharmacy."""

    ward: Any

    @initialize()
    def draft(self) -> None:
        body = item(quantity={"value": str(QUANTITY), "unit": "tablet"}, fills_allowed=FILLS)
        self.one = self.ward.draft(body)
        self.dispensations: list[str] = []

    @property
    def path(self) -> str:
        return f"/v1/prescriptions/{self.one['id']}"

    def see(self) -> dict[str, Any]:
        return done(self.ward.prescriber.get(self.path))

    def attempt(self, api: Any, action: str, body: Any = None, *, repeats: bool = False) -> Any:
        """Try something; hold the version to what was answered."""
        before = self.see()
        answer = api.post(f"{self.path}/{action}", json=body)
        after = self.see()
        assert answer.status_code < 500, answer.content
        if answer.status_code >= 400:
            assert after == before or answer.json()["code"] == "clinical_validation_failed", (action, answer.content)
        elif not (repeats and after["version"] == before["version"]):
            assert after["version"] == before["version"] + 1, action
        total = Decimal(after["items"][0]["dispensed_quantity"])
        assert 0 <= total <= QUANTITY * FILLS
        assert after["items"][0]["fills_used"] <= FILLS
        self.one = after
        return answer

    @rule()
    def validate(self) -> None:
        self.attempt(self.ward.prescriber, "validate", {})

    @rule()
    def sign(self) -> None:
        self.attempt(self.ward.prescriber, "sign", {})

    @rule(second=st.booleans())
    def route(self, second: bool) -> None:
        place = self.ward.second_place if second else self.ward.pharmacy_id
        self.attempt(self.ward.prescriber, "route", {"pharmacy_location_id": place})

    @rule()
    def acknowledge(self) -> None:
        self.attempt(self.ward.pharmacist, "acknowledge", repeats=True)

    @rule()
    def ready(self) -> None:
        self.attempt(self.ward.pharmacist, "ready", repeats=True)

    @rule()
    def give_back(self) -> None:
        self.attempt(self.ward.pharmacist, "return", {"reason_code": "out_of_stock"})

    @rule(quantity=st.sampled_from(["1", "2.5", "3", "6", "7"]))
    def dispense(self, quantity: str) -> None:
        lines = [{"item_id": self.one["items"][0]["id"], "quantity": quantity}]
        answer = self.attempt(self.ward.pharmacist, "dispense", {"lines": lines})
        if answer.status_code == 201:
            self.dispensations.append(answer.json()["data"]["id"])

    @precondition(lambda self: self.dispensations)
    @rule(data=st.data())
    def reverse(self, data: Any) -> None:
        which = data.draw(st.sampled_from(self.dispensations))
        self.attempt(self.ward.pharmacist, f"dispensations/{which}/reverse", {"reason_code": "not_collected"})

    @precondition(lambda self: self.one["version"] > 6)
    @rule()
    def cancel(self) -> None:
        self.attempt(self.ward.prescriber, "cancel", {"reason_code": "other"})

    def teardown(self) -> None:
        if not hasattr(self, "one"):
            return
        for side in (self.ward.clinic, self.ward.pharmacy):
            assert [str(found) for found in breaches(side.tenant.id)] == []
        with tenant_context(self.ward.clinic.tenant.id):
            self.check_history()
        history = self.ward.fhir.get(f"/MedicationRequest/{self.one['items'][0]['id']}/_history?_count=200").json()
        assert history["total"] == self.one["version"]

    def check_history(self) -> None:
        """The chain is unbroken, and each entry but the silent ones has one event of the owner."""
        tenant = self.ward.clinic.tenant.id
        entries = [*AuditEntry.objects.filter(tenant_id=tenant, prescription_id=self.one["id"]).order_by("sequence")]
        before = START
        for number, entry in enumerate(entries, 1):
            assert (entry.sequence, entry.prev_hash) == (number, before)
            before = chained(before, hashed_form(vars(entry)))
            assert entry.hash == before
        told = ledger.Event.objects.filter(tenant_id=tenant, resource_type="prescription", resource_id=self.one["id"])
        names = sorted(event.type.removeprefix("prescription.") for event in told)
        assert names == sorted(entry.action for entry in entries if entry.action not in SILENT)


def test_both_sides_at_random(ward, long):
    ward.second_place = ward.pharmacy.place(name="Second place", type="pharmacy")
    Sides.ward = ward
    bounds = settings(
        max_examples=400 if long else 12,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    run_state_machine_as_test(Sides, settings=bounds)
