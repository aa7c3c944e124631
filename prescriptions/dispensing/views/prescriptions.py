"""HTTP of the pharmacy's side: tokens, claims, and what a pharmacy does with a prescription that was routed to it."""

from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import idempotency, preconditions
from api.listing import one_call
from api.operations import Operation
from api.shapes import select
from api.sorts import SortBy
from api.writing import Answer, Command
from core.actor import Actor
from core.clock import rfc3339
from core.db import bind_call
from core.errors import InvalidTransition, NotFound, VersionConflict
from core.pipeline import run
from organizations.public import PharmacyNotFound
from prescriptions.dispensing.claims import claim_prescription, issue_token
from prescriptions.dispensing.demands import demand_another_person
from prescriptions.dispensing.dispense import dispense_prescription
from prescriptions.dispensing.gathering import DISPENSE
from prescriptions.dispensing.receiving import acknowledge_prescription, report_ready, return_prescription
from prescriptions.dispensing.refusals import (
    HandedOverAtOutOfRange,
    IdentityCheckRequired,
    LotNumberRequired,
    NotYetValid,
    OverDispensed,
    ProductExpired,
    SubstitutionNotAllowed,
    SubstitutionNotVerifiable,
    SubstitutionRequired,
    TooEarly,
    UnitMismatch,
    WitnessRequired,
)
from prescriptions.dispensing.representations import PrescriptionTokenOut, ReceivedDispensationOut
from prescriptions.dispensing.serializers import ClaimIn, DispenseIn, ReturnIn
from prescriptions.lifecycle.refusals import (
    OwnerClosed,
    PartiallyDispensed,
    PrescriptionExpired,
    SeparationOfDuties,
    UnknownItem,
    WrongPharmacy,
)
from prescriptions.lifecycle.targets import AtPharmacy, LockedPrescription, Owned, demand_place
from prescriptions.lifecycle.views import PrescriptionsViewSet
from prescriptions.prescribing.representations import PrescriptionForPharmacyOut, ReceivedPrescriptionOut

_AT_PHARMACY = (OwnerClosed, WrongPharmacy, VersionConflict, InvalidTransition)


class DispensingViewSet(PrescriptionsViewSet):
    """What a pharmacy does with prescriptions, and the token by which the patient chooses one."""

    serializer_class = ReceivedPrescriptionOut
    ordering_fields = (SortBy("created_at", "routed_at"),)
    operation_ids: ClassVar = {
        "claim": "claimPrescription",
        "give_back": "returnPrescription",
        "ready": "reportPrescriptionReady",
        "token": "issuePrescriptionToken",
    }
    operations: ClassVar[dict[str, Operation]] = {
        "token": Operation(
            "Issue a token for the patient",
            "By it any pharmacy may claim the prescription. It is shown this once and replaces the former one; it ends with "
            "routing, cancellation and expiry. Case, spaces and hyphens do not matter.",
            scope="prescriptions.route",
            status=201,
            answer=PrescriptionTokenOut,
            secrets=("token",),
            find=Owned(),
            run=issue_token,
            errors=(VersionConflict, InvalidTransition, PrescriptionExpired),
        ),
        "claim": Operation(
            "Claim a prescription by the patient's token",
            "The place may be left out where the membership reaches one dispensing place only.",
            scope=DISPENSE,
            status=200,
            body=ClaimIn,
            run=claim_prescription,
            errors=(WrongPharmacy, PharmacyNotFound, NotFound),
        ),
        "acknowledge": Operation(
            "Confirm the receipt of a prescription, or that its cancellation was seen",
            "A repetition changes nothing.",
            scope=DISPENSE,
            find=AtPharmacy(),
            run=acknowledge_prescription,
            errors=_AT_PHARMACY,
        ),
        "give_back": Operation(
            "Hand an untouched prescription back",
            "Before it was acknowledged, that is a rejection. The prescription is signed again and hidden from the pharmacy.",
            scope=DISPENSE,
            body=ReturnIn,
            answer=PrescriptionForPharmacyOut,
            find=AtPharmacy(),
            run=return_prescription,
            errors=(*_AT_PHARMACY, PartiallyDispensed),
        ),
        "ready": Operation(
            "Report a prescription ready for collection",
            "A repetition changes nothing.",
            scope=DISPENSE,
            find=AtPharmacy(),
            run=report_ready,
            errors=_AT_PHARMACY,
        ),
        "dispense": Operation(
            "Dispense a prescription",
            "Without `lines` the rest of the current fill of every open item is recorded, in full. A line stays within one "
            "fill; one without a quantity says why the rest of an item is not dispensed, and closes the item.",
            scope=DISPENSE,
            status=201,
            body=DispenseIn,
            answer=ReceivedDispensationOut,
            find=AtPharmacy(demand_another_person),
            run=dispense_prescription,
            errors=(
                *_AT_PHARMACY, SeparationOfDuties, HandedOverAtOutOfRange, PrescriptionExpired, NotYetValid, UnknownItem,
                UnitMismatch, OverDispensed, TooEarly, LotNumberRequired, ProductExpired, SubstitutionRequired,
                SubstitutionNotVerifiable, SubstitutionNotAllowed, IdentityCheckRequired, WitnessRequired,
            ),
        ),
    }  # fmt: skip

    @action(detail=True, methods=["post"])
    def token(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Issue a token."""
        return self.write(self._token)

    @action(detail=False, methods=["post"])
    def claim(self, request: HttpRequest) -> HttpResponse:
        """Claim a prescription."""
        return self.write()

    @action(detail=True, methods=["post"])
    def acknowledge(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Acknowledge a prescription."""
        return self.write()

    @action(detail=True, methods=["post"], url_path="return")
    def give_back(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Hand a prescription back."""
        return self.write(self._give_back)

    @action(detail=True, methods=["post"])
    def ready(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Report a prescription ready."""
        return self.write()

    @action(detail=True, methods=["post"])
    def dispense(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Dispense a prescription."""
        return self.write()

    def location(self, key: object, status: int) -> str:
        """The address of a new dispensation; a token cannot be read again."""
        if self.action != "dispense":
            return ""
        return f"{str(self.request.path).rstrip('/').rsplit('/', 1)[0]}/dispensations/{key}"

    def _token(self, command: Command) -> Answer:
        row, token = issue_token(command.actor, command.target, command.at)
        assert row.expires_at is not None
        return Answer.of({"token": token, "expires_at": rfc3339(row.expires_at)})

    def _give_back(self, command: Command) -> Answer:
        """Return the prescription, and answer it as the pharmacy saw it last: its copy is emptied."""
        target: LockedPrescription = command.target
        row = return_prescription(command.actor, target, command.data, command.at)
        shape = PrescriptionForPharmacyOut.shape
        chosen = select(shape, self.request.GET.get("fields"), self.request.GET.get("include"))
        read = one_call(shape, chosen, target.owner_id, str(row.id))
        _, found, _ = run([bind_call(target.owner_id), read, bind_call(command.actor.tenant_id)])
        content, version = found.row()
        return Answer(content or b"null", tag=preconditions.tag_of(shape, chosen, content, version))

    def _replay(self, actor: Actor, replay: idempotency.Replay) -> HttpResponse:
        """Answer a claim again only to who still works at the place that has claimed."""
        if self.action == "claim" and replay.status == 200:
            held: dict[str, Any] = orjson.loads(replay.content)["data"]
            if held.get("route"):
                demand_place(actor, UUID(held["route"]["pharmacy_location_id"]))
        return super()._replay(actor, replay)
