"""HTTP of prescriptions on the owner's side, and the reads that owner and pharmacy share."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.listing import Listing
from api.operations import Operation
from api.sorts import SortBy
from core.errors import InvalidTransition, QuotaExceeded, VersionConflict
from core.step_up import StepUpRequired
from fhir_api.public import PatientNotFound
from organizations.public import LocationNotFound, PartyClosed, PharmacyNotFound
from prescriptions.evidence.external_signatures import ExternalSignatureMismatch, ExternalSignatureUntrusted
from prescriptions.lifecycle.refusals import (
    AlreadyRouted,
    CancelNotPermitted,
    EncounterNotFound,
    NotThePrescriber,
    PartiallyDispensed,
    PrescriptionExpired,
    SeparationOfDuties,
    TemplateNotFound,
    ValidFromOutOfRange,
)
from prescriptions.lifecycle.targets import Owned
from prescriptions.lifecycle.views import PrescriptionsViewSet
from prescriptions.validation.actions import validate_prescription
from prescriptions.validation.gathering import OwnedWithRecord
from prescriptions.validation.refusals import (
    OverrideNotAllowed,
    OverrideNotPermitted,
    OverrideReasonRequired,
    UnknownIssue,
)

from .cancelling import cancel_prescription, may_cancel
from .drafts import create_prescription, replace_prescription
from .filters import PrescriptionFilters, ReceivedFilters
from .representations import PrescriptionOut, PrescriptionRowOut, ReceivedPrescriptionOut, ReceivedPrescriptionRowOut
from .routing import route_prescription
from .serializers import PrescriptionCancelIn, PrescriptionDraftIn, RouteIn, SignIn, ValidateIn
from .signing import ClinicalValidationFailed, may_sign, sign_prescription

_REFERS = (PatientNotFound, TemplateNotFound, EncounterNotFound, LocationNotFound)
_OVERRIDES = (OverrideNotPermitted, UnknownIssue, OverrideReasonRequired, SeparationOfDuties, OverrideNotAllowed)
_ISSUED = Listing.of(
    PrescriptionRowOut,
    filterset_class=PrescriptionFilters,
    ordering_fields=("created_at", "updated_at", "number"),
)
_RECEIVED = Listing.of(
    ReceivedPrescriptionRowOut,
    filterset_class=ReceivedFilters,
    ordering_fields=(SortBy("created_at", "routed_at"), "updated_at", "number"),
)


class PrescriptionViewSet(PrescriptionsViewSet):
    """Prescriptions: drafts, validation, signature, routing and cancellation by their owner, and the lists of both sides."""

    serializer_class = PrescriptionOut
    filterset_class = PrescriptionFilters
    ordering_fields = ("created_at", "updated_at", "number")
    also_listed = (ReceivedPrescriptionOut,)
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List prescriptions",
            "`box` chooses those that the tenant has issued or those that were routed to it; without it a tenant that is a "
            "pharmacy only gets the received ones. Items come with `include=items`.",
            listing=_ISSUED,
        ),
        "create": Operation(
            "Draft a prescription",
            body=PrescriptionDraftIn,
            run=create_prescription,
            errors=(*_REFERS, QuotaExceeded),
        ),
        "retrieve": Operation(
            "Get a prescription", "The owner and the pharmacy that holds it; the pharmacy does not see everything."
        ),
        "update": Operation(
            "Replace a draft",
            "Items keep their ids by position. A former validation no longer counts.",
            body=PrescriptionDraftIn,
            find=Owned(),
            run=replace_prescription,
            errors=(VersionConflict, InvalidTransition, *_REFERS),
        ),
        "validate": Operation(
            "Run the clinical checks",
            "`validation` of the answer is the run; it is kept, whatever its outcome.",
            body=ValidateIn,
            find=OwnedWithRecord(),
            run=validate_prescription,
            errors=(VersionConflict, InvalidTransition, PatientNotFound, *_OVERRIDES),
        ),
        "sign": Operation(
            "Sign a prescription",
            "A draft is validated first. What the checks find and nobody overrides is answered with the run, which is kept.",
            scope="prescriptions.sign",
            user_only=True,
            body=SignIn,
            find=OwnedWithRecord(may_sign, signs=True),
            run=sign_prescription,
            errors=(
                NotThePrescriber, StepUpRequired, VersionConflict, InvalidTransition, PatientNotFound, *_OVERRIDES,
                ClinicalValidationFailed, ValidFromOutOfRange, ExternalSignatureUntrusted, ExternalSignatureMismatch,
            ),
        ),
        "route": Operation(
            "Route a prescription to a pharmacy",
            "While nothing is dispensed it may be led to another pharmacy.",
            scope="prescriptions.route",
            body=RouteIn,
            find=Owned(),
            run=route_prescription,
            errors=(
                VersionConflict, InvalidTransition, PrescriptionExpired, PartiallyDispensed, AlreadyRouted,
                PharmacyNotFound, PartyClosed,
            ),
        ),
        "cancel": Operation(
            "Cancel a prescription, or what is left of it",
            body=PrescriptionCancelIn,
            find=Owned(may_cancel),
            run=cancel_prescription,
            errors=(CancelNotPermitted, VersionConflict, InvalidTransition),
        ),
    }  # fmt: skip

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the issued or the received prescriptions."""
        return self.list_of_box({"issued": None, "received": _RECEIVED}, of_pharmacy="received")

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the tenant's own prescription, or the copy of one that was routed to it."""
        return self.retrieve_of_either(PrescriptionOut.shape, ReceivedPrescriptionOut.shape)

    @action(detail=True, methods=["post"])
    def validate(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Run the clinical checks."""
        return self.write()

    @action(detail=True, methods=["post"])
    def sign(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Sign a prescription."""
        return self.write()

    @action(detail=True, methods=["post"])
    def route(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Route a prescription."""
        return self.write()

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Cancel a prescription."""
        return self.write()
