"""HTTP of snapshots, verification, evidence and the audit history."""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.filters import check_names
from api.listing import Listing
from api.operations import Operation
from api.sorts import SortBy
from api.views import ApiViewSet
from api.writing import read_body
from core import clock
from core.actor import Actor
from core.conditions import Condition
from core.db import bind_call, run_bound
from core.errors import InvalidTransition, NotFound
from core.pipeline import Call, Rows, run
from fhir_api import public as record
from fhir_api.public import PatientNotFound
from prescriptions.lifecycle.views import PrescriptionsViewSet
from prescriptions.validation.gathering import OwnedWithRecord

from .files import dispensations_call, evidence_of, spans_of
from .filters import ENTRIES_WITHIN, READS_WITHIN, AccessFilters, AuditFilters
from .held_evidence import HeldEvidence, evidence_calls, held_of
from .representations import AccessEntryOut, AuditEntryOut
from .serializers import EvidenceOut, SignedSnapshotOut, SigningPayloadOut, VerificationOut, VerifiedJwsOut, VerifyIn
from .shown_snapshots import exists_call, shown_snapshot, snapshot_calls
from .signing_payloads import signing_payload
from .tree_rows import nodes_call, read_nodes
from .verification import Presented, verify_held

_AUDIT = "prescriptions.audit.read"
_OWNERS_ALONE = "Only the owner of the prescription has it; a receiver checks with `POST /v1/prescriptions/verify`."


class EvidenceViewSet(PrescriptionsViewSet):
    """Signed snapshots, their verification, and the evidence of a prescription in one document."""

    operations: ClassVar[dict[str, Operation]] = {
        "snapshot": Operation(
            "Get the signed snapshot",
            "The owner, and the pharmacy of the live route. Before the signature there is none: 404.",
            scope="prescriptions.read",
            answer=SignedSnapshotOut,
        ),
        "signing_payload": Operation(
            "Get what a key of one's own signs",
            "The canonical text of a validated prescription; `sign` takes a detached JWS over it.",
            scope="prescriptions.sign",
            answer=SigningPayloadOut,
            errors=(InvalidTransition, PatientNotFound),
        ),
        "verification": Operation(
            "Verify a signed prescription", _OWNERS_ALONE, scope="prescriptions.read", answer=VerificationOut
        ),
        "verify": Operation(
            "Verify a signed snapshot that was presented",
            "Nothing of any tenant is answered beyond the payload that was given.",
            scope="prescriptions.read",
            body=VerifyIn,
            answer=VerifiedJwsOut,
            status=200,
        ),
        "evidence": Operation(
            "Get the evidence of a prescription",
            f"One document that is checked offline. {_OWNERS_ALONE}",
            scope="audit.read",
            answer=EvidenceOut,
        ),
    }

    @action(detail=True, methods=["get"])
    def snapshot(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the snapshot as the owner or the pharmacy keeps it."""
        check_names(request.GET, ())
        actor, found = self.read(lambda tenant_id: snapshot_calls(tenant_id, pk))
        shown, patient_id = shown_snapshot(actor.tenant_id, pk, found)
        self.record(actor, "rx.export", [patient_id], one=str(pk))
        return self._answered(shown)

    @action(detail=True, methods=["get"], url_path="signing-payload")
    def signing_payload(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer the text that a key of one's own signs; its patient's record is read as for a validation."""
        check_names(request.GET, ())
        find = OwnedWithRecord(signs=True)
        actor, (located,) = self.read(lambda tenant_id: [find.locate(tenant_id, pk)])
        with transaction.atomic():
            run([bind_call(actor.tenant_id)])
            target = find(actor, pk, located=located)
            shown = signing_payload(actor, target, clock.now())
            self.record(actor, "rx.export", [target.row.patient_id], one=str(pk))
        return self._answered(shown)

    @action(detail=True, methods=["get"])
    def verification(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer what of the signed prescription holds."""
        check_names(request.GET, ())
        actor, held, _ = self._held(pk)
        shown = verify_held(held)
        self.record(actor, "rx.verify", [held.row.patient_id], one=str(pk))
        return self._answered(shown)

    @action(detail=False, methods=["post"])
    def verify(self, request: HttpRequest) -> HttpResponse:
        """Answer what is known of a presented signature; nothing is written but the access record."""
        check_names(request.GET, ())
        actor = self.actor()
        data, _ = read_body(request, self.operation)
        presented = Presented(data["jws"])
        shown = presented.shown()
        own = [presented.patient_id] if presented.patient_id and presented.tenant_id == actor.tenant_id else []
        self.record(actor, "rx.verify", own, one=str(presented.prescription_id or ""))
        return self._answered(shown)

    @action(detail=True, methods=["get"])
    def evidence(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer all that proves the prescription."""
        check_names(request.GET, ())
        actor, held, given = self._held(pk, dispensations_call)
        (nodes,) = run_bound(actor.tenant_id, [nodes_call(actor.tenant_id, spans_of(held))])
        dispensations = [orjson.Fragment(given.value(n) or b"null") for n in range(len(given))]
        shown = evidence_of(held, read_nodes(nodes), dispensations)
        self.record(actor, "rx.export", [held.row.patient_id], one=str(pk))
        return self._answered(shown)

    def _held(self, pk: UUID, *more: Callable[[UUID, UUID], Call]) -> tuple[Actor, HeldEvidence, Any]:
        """Read all that is kept of a signed prescription, and the rows of further calls.

        :raises NotFound: the tenant has no such prescription in reach, or it is not signed.
        """
        actor, found = self.read(
            lambda tenant_id: [*evidence_calls(tenant_id, pk), *(make(tenant_id, pk) for make in more)]
        )
        width = len(found) - len(more)
        held = held_of(actor.tenant_id, found[:width])
        if held is None:
            raise NotFound("No such prescription.")
        if held.snapshot is None:
            raise NotFound("The prescription is not signed.")
        return actor, held, found[width] if more else None

    def _answered(self, shown: Any) -> HttpResponse:
        return self.answer(orjson.dumps(shown))


_CHAINED = Listing.of(
    AuditEntryOut, filterset_class=AuditFilters, ordering_fields=("occurred_at",), ordering="-occurred_at"
)
_CHAIN_OF_ONE = Listing.of(
    AuditEntryOut,
    filterset_class=AuditFilters,
    ordering_fields=(SortBy("occurred_at", "sequence"),),
    ordering="-occurred_at",
)
_READS = Listing.of(
    AccessEntryOut,
    filterset_class=AccessFilters,
    ordering_fields=(SortBy("occurred_at", "created_at"),),
    ordering="-occurred_at",
)


class AuditViewSet(ApiViewSet):
    """The audit history of the tenant's prescriptions; a membership with places sees that of prescriptions there."""

    family = "prescriptions"
    feature = "prescriptions"
    serializer_class = AuditEntryOut
    filterset_class = AuditFilters
    ordering_fields = ("occurred_at",)
    ordering = "-occurred_at"
    also_listed = (AccessEntryOut,)
    operation_ids: ClassVar = {"list": "listPrescriptionAudit"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List the audit history of prescriptions",
            "Newest first. `action` read, verified or exported answers the records of reads instead, without sequence and "
            "hash. Names, addresses and browsers are gone once the tenant is closed.",
            scope=_AUDIT,
            listing=_CHAINED,
        )
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer entries, or records of reads."""
        if request.GET.get("action") in record.RX_READS:
            return self.list_page(READS_WITHIN, *self.of_one("resource_id"), listing=_READS)
        return self.list_page(ENTRIES_WITHIN, *self.of_one("prescription_id"), listing=self.chained())

    def chained(self) -> Listing:
        """The list of entries."""
        return _CHAINED

    def of_one(self, column: str) -> Sequence[Condition]:
        """Conditions that narrow either list to one prescription."""
        return ()


class AuditOfOneViewSet(AuditViewSet):
    """The audit history of one prescription, the newest entry first."""

    operation_ids: ClassVar = {"list": "listAuditOfPrescription"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List the audit history of a prescription",
            "Newest first. `action` read, verified or exported answers the records of reads instead.",
            scope=_AUDIT,
            listing=_CHAIN_OF_ONE,
        )
    }

    def chained(self) -> Listing:
        """The list of entries, in the order of the chain."""
        return _CHAIN_OF_ONE

    def of_one(self, column: str) -> Sequence[Condition]:
        """Conditions that narrow either list to the prescription of the path."""
        return (Condition(f't."{column}" = {{0}}', (str(self.kwargs["prescription_id"]),)),)

    def _run(self, calls: Callable[[UUID | None], Sequence[Call]]) -> tuple[Actor | None, list[Rows]]:
        """Run the calls of a list; the prescription must exist and be in reach, which an entry of its history tells as well.

        :raises NotFound: it does not.
        """
        key, is_of_reads = self.kwargs["prescription_id"], self.request.GET.get("action") in record.RX_READS
        actor, found = self.read(calls)
        if is_of_reads or _is_empty(found[-1]):
            _, (there,) = self.read(lambda tenant_id: [exists_call(tenant_id, key)])
            if not len(there):
                raise NotFound("No such prescription.")
        return actor, found


def _is_empty(page: Rows) -> bool:
    """Tell whether a page has no items; one with a total is a row without an item then."""
    return not len(page) or page.value(0, 1) is None
