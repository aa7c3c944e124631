"""HTTP of requests: the pharmacy asks, both sides read, the prescriber answers."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.listing import Listing
from api.operations import Operation
from api.preconditions import tag_of
from api.shapes import select
from api.sorts import SortBy
from api.writing import Answer, Command
from core.actor import Actor
from core.arrays import array_literal
from core.db import run_bound
from core.errors import InvalidTransition, QuotaExceeded, VersionConflict
from core.pipeline import Call, Statement
from fhir_api.public import PatientNotFound
from organizations.public import LocationNotFound
from prescriptions.lifecycle.refusals import OwnerClosed, UnknownItem, WrongPharmacy
from prescriptions.lifecycle.targets import AtPharmacy
from prescriptions.lifecycle.views import PrescriptionsViewSet

from .asking import RequestOpen, ask_prescriber
from .filters import AskedFilters, RequestFilters
from .models import PrescriptionRequest
from .representations import ReceivedRequestOut, RequestOut
from .responding import OwnRequest, respond_to_request
from .serializers import RequestIn, RespondIn

_OWN = Listing.of(RequestOut, filterset_class=RequestFilters)
_ASKED = Listing.of(
    ReceivedRequestOut,
    filterset_class=AskedFilters,
    ordering_fields=(SortBy("created_at", "received_at"), "updated_at"),
)
# About which prescriptions of whom requests are, for the owner and for the pharmacy that asked.
_ABOUT = Statement.of(
    "SELECT p.patient_id, p.id::text FROM prescriptions_prescriptionrequest r"
    " JOIN prescriptions_prescription p ON p.tenant_id = r.tenant_id AND p.id = r.prescription_id"
    " WHERE r.tenant_id = $1 AND r.id = ANY($2::uuid[]) AND p.tenant_id = $1"
    " UNION SELECT c.patient_id, c.id::text FROM prescriptions_receivedrequest q"
    " JOIN prescriptions_receivedprescription c ON c.tenant_id = q.tenant_id AND c.id = q.prescription_id"
    " WHERE q.tenant_id = $1 AND q.id = ANY($2::uuid[]) AND c.tenant_id = $1"
)


class AskingViewSet(PrescriptionsViewSet):
    """What a pharmacy asks about a prescription that it holds."""

    serializer_class = ReceivedRequestOut
    ordering_fields = (SortBy("created_at", "received_at"),)
    operation_ids: ClassVar = {"create": "askPrescriber"}
    operations: ClassVar[dict[str, Operation]] = {
        "create": Operation(
            "Ask the prescriber for a renewal, a change or a clarification",
            "The same may be asked once at a time. With `follow_up` what is not answered yet is asked again: the answer is "
            "200 then, and text and proposal, if given, replace the former ones. A renewal may be asked of a prescription "
            "that is dispensed or expired. The prescription's version stays.",
            scope="prescriptions.dispense",
            body=RequestIn,
            find=AtPharmacy(),
            run=ask_prescriber,
            errors=(OwnerClosed, WrongPharmacy, VersionConflict, InvalidTransition, RequestOpen, UnknownItem),
        ),
    }

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask, or ask again."""
        return self.write(self._ask)

    def location(self, key: object, status: int) -> str:
        """The address of a new request, which is not below its prescription."""
        return f"/v1/prescriptions/requests/{key}" if status == 201 else ""

    def _ask(self, command: Command) -> PrescriptionRequest | Answer:
        found = ask_prescriber(command.actor, command.target, command.data, command.at, command.reading)
        if not found.follow_ups:
            return found
        shape = ReceivedRequestOut.shape
        chosen = select(shape, self.request.GET.get("fields"), self.request.GET.get("include"))
        assert command.reading is not None
        assert command.reading.rows is not None
        content, version = command.reading.rows.row()
        return Answer(content or b"null", status=200, tag=tag_of(shape, chosen, content, version))


class RequestViewSet(PrescriptionsViewSet):
    """Requests of pharmacies, as the prescriber's side and the pharmacy that asked read them, and their answers."""

    lookup_url_kwarg = "request_id"
    serializer_class = RequestOut
    filterset_class = RequestFilters
    also_listed = (ReceivedRequestOut,)
    operation_ids: ClassVar = {"respond": "respondToRequest"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List requests",
            "`box=received` chooses the requests that pharmacies have sent about the tenant's own prescriptions, "
            "`box=issued` those that the tenant itself has sent as a pharmacy. Without it a tenant that is a pharmacy only "
            "gets what it has issued, any other what it has received. `from` and `to` are times of the first asking.",
            listing=_OWN,
        ),
        "retrieve": Operation("Get a request", "For the owner of the prescription and the pharmacy that asked."),
        "respond": Operation(
            "Answer a request",
            "`answered` is for clarifications, `approved` and `approved_with_changes` are for the others. An approval makes "
            "a draft of what was asked for, or of `items`, which `draft_prescription_id` names; it signs nothing.",
            body=RespondIn,
            find=OwnRequest(),
            run=respond_to_request,
            errors=(VersionConflict, InvalidTransition, PatientNotFound, LocationNotFound, QuotaExceeded),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the requests that were received, or those that the tenant has sent."""
        return self.list_of_box({"issued": _ASKED, "received": None}, of_pharmacy="issued")

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a request about one of the tenant's prescriptions, or one that it has sent."""
        return self.retrieve_of_either(RequestOut.shape, ReceivedRequestOut.shape)

    @action(detail=True, methods=["post"])
    def respond(self, request: HttpRequest, request_id: UUID) -> HttpResponse:
        """Answer a request."""
        return self.write()

    def before_answer(self, actor: Actor, contents: Sequence[bytes]) -> None:
        """Write the access record, under the patients and, of one request, its prescription."""
        ids = [orjson.loads(content)["id"] for content in contents]
        (rows,) = run_bound(actor.tenant_id, [Call(_ABOUT, [str(actor.tenant_id), array_literal(ids)])])
        about = [tuple((value or b"").decode() for value in rows.row(number)) for number in range(len(rows))]
        is_list = self.action == "list"
        self.record(
            actor,
            self.interaction_of_list if is_list else self.interaction_of_one,
            [patient for patient, _ in about],
            count=len(contents),
            one="" if is_list or not about else about[0][1],
        )
