"""An app of the tests' own that enters the clinical record by its door: a ward round that keeps medication requests."""

from collections import defaultdict

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api import public
from ledger import public as ledger
from tests import factories
from tests.fhir_api.clients import patient, prescriber
from tests.fhir_api.noted import brief, log

LOINC, RXNORM = "http://loinc.org", "http://www.nlm.nih.gov/research/umls/rxnorm"
KEPT = defaultdict(set)


def kept(tenant_id, ids):
    """The addresses of the orders that the ward round keeps."""
    return {fhir_id: f"/v1/orders/{fhir_id}" for fhir_id in ids if fhir_id in KEPT[tenant_id]}


public.own("MedicationRequest", kept)


class WardRound:
    """The caller: an app of the tests' own, in one tenant, with a client of FHIR beside it."""

    def __init__(self, roles=("prescriber",)):
        self.tenant = factories.provision("provider")
        self.doctor = prescriber(self.tenant)
        self.actor = factories.actor_of(self.tenant, roles)
        self.eva = self.doctor.made(patient())
        self.statements = [self.statement(self.eva, code) for code in ("855332", "1191")]

    def statement(self, whose, code):
        return self.doctor.made(
            {
                "resourceType": "MedicationStatement",
                "status": "active",
                "medicationCodeableConcept": {"coding": [{"system": RXNORM, "code": code}]},
                "subject": {"reference": f"Patient/{whose['id']}"},
            }
        )

    def order(self, **more):
        return {
            "resourceType": "MedicationRequest",
            "id": uuid7_text(),
            "status": "active",
            "intent": "order",
            "medicationCodeableConcept": {"text": "ibuprofen"},
            "subject": {"reference": f"Patient/{self.eva['id']}"},
            **more,
        }

    def sign(self, order, at=None):
        """One change of the app: the row it keeps, and what FHIR shows of it."""
        with tenant_context(self.tenant.id):
            KEPT[self.tenant.id].add(order["id"])
            (shown,) = public.project(self.actor, [order], at=at or now())
        return shown

    def address(self, order):
        return f"/MedicationRequest/{order['id']}"

    def facts(self, order):
        with tenant_context(self.tenant.id):
            rows = ledger.Event.objects.filter(
                tenant_id=self.tenant.id, data__reference=f"MedicationRequest/{order['id']}"
            )
            return list(rows.order_by("occurred_at", "id").values_list("type", "subject_id"))


def names(*resources):
    return [(one["resourceType"], one["id"]) for one in resources]


def noted(ward, work):
    """What some work answers, and the records of access that it left."""
    before = len(log(ward))
    found = work()
    return found, [brief(row) for row in log(ward, before)]
