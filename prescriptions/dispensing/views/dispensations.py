"""HTTP of dispensations: the owner of the prescription reads all, a pharmacy its own, and reverses them."""

from collections.abc import Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.filters import check_names
from api.listing import Listing, one_call
from api.operations import Operation
from api.preconditions import tag_of
from api.shapes import select
from api.sorts import SortBy
from core.actor import Actor
from core.conditions import Condition
from core.errors import InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Rows, Statement
from prescriptions.dispensing.gathering import DISPENSE
from prescriptions.dispensing.refusals import ReversalWindowClosed
from prescriptions.dispensing.representations import DispensationOut, ReceivedDispensationOut
from prescriptions.dispensing.reversal import OwnDispensation, reverse_dispensation
from prescriptions.dispensing.serializers import ReverseIn
from prescriptions.lifecycle.refusals import OwnerClosed, WrongPharmacy
from prescriptions.lifecycle.targets import WITHIN, AtPharmacy
from prescriptions.lifecycle.views import PrescriptionsViewSet
from prescriptions.states import LIVE

_ALL = Listing.of(DispensationOut, ordering_fields=("created_at", "updated_at"))
_RECEIVED = Listing.of(ReceivedDispensationOut, ordering_fields=(SortBy("created_at", "received_at"), "updated_at"))
# Whose prescription it is: for its owner, and for a pharmacy that holds it or has dispensed of it.
_OWN = Statement.of(
    f"SELECT t.patient_id FROM prescriptions_prescription t WHERE t.id = $1 AND t.tenant_id = $2 AND {WITHIN.sql}"
)
_HELD = Statement.of(
    "SELECT c.patient_id FROM prescriptions_receivedprescription c WHERE c.id = $1 AND c.tenant_id = $2"
    f" AND (c.route_state IN ({', '.join(repr(one) for one in LIVE)}) OR EXISTS (SELECT 1"
    " FROM prescriptions_receiveddispensation d WHERE d.tenant_id = $2 AND d.prescription_id = c.id))"
)


def _whose(prescription_id: UUID, tenant_id: UUID) -> list[Call]:
    keys = [str(prescription_id), str(tenant_id)]
    return [Call(_OWN, keys), Call(_HELD, keys)]


class DispensationViewSet(PrescriptionsViewSet):
    """Dispensations of one prescription."""

    lookup_url_kwarg = "dispensation_id"
    serializer_class = DispensationOut
    ordering_fields = ("created_at", "updated_at")
    also_listed = (ReceivedDispensationOut,)
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List the dispensations of a prescription",
            "The owner sees all, a pharmacy its own, also of a prescription that it no longer holds.",
            listing=_ALL,
        ),
        "retrieve": Operation("Get a dispensation"),
        "reverse": Operation(
            "Reverse a dispensation",
            "It counts no more and stays; items that it closed are open again. Possible for as long as the owner's policy "
            "`dispense_reversal_hours` says.",
            scope=DISPENSE,
            body=ReverseIn,
            answer=ReceivedDispensationOut,
            find=OwnDispensation(AtPharmacy()),
            run=reverse_dispensation,
            errors=(OwnerClosed, WrongPharmacy, VersionConflict, InvalidTransition, ReversalWindowClosed),
        ),
    }
    _patient_id = ""

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer all dispensations, or those of the caller's pharmacy."""
        _, (own, held) = self.read(lambda tenant_id: _whose(self.kwargs["pk"], tenant_id))
        is_own = self._note(own, held)
        of_prescription = Condition("t.prescription_id = {0}", (str(self.kwargs["pk"]),))
        return self.list_page(of_prescription, listing=_ALL if is_own else _RECEIVED)

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one dispensation."""
        of_prescription = Condition("t.prescription_id = {0}", (str(self.kwargs["pk"]),))
        shapes = (DispensationOut.shape, ReceivedDispensationOut.shape)
        chosen: list[Any] = []

        def calls(tenant_id: UUID) -> list[Call]:
            check_names(self.request.GET, ("fields", "include"))
            chosen[:] = [select(one, self.request.GET.get("fields"), self.request.GET.get("include")) for one in shapes]
            key = str(self.kwargs[self.lookup_url_kwarg])
            return [
                *_whose(self.kwargs["pk"], tenant_id),
                *(one_call(*pair, tenant_id, key, of_prescription) for pair in zip(shapes, chosen, strict=True)),
            ]

        actor, (own, held, *found) = self.read(calls)
        place = 0 if self._note(own, held) else 1
        if not len(found[place]):
            raise NotFound("No such dispensation.")
        content, version = found[place].row()
        self.before_answer(actor, [content or b"null"])
        return self.answer(content or b"null", tag=tag_of(shapes[place], chosen[place], content, version))

    @action(detail=True, methods=["post"])
    def reverse(self, request: HttpRequest, pk: UUID, dispensation_id: UUID) -> HttpResponse:
        """Reverse a dispensation."""
        return self.write()

    def before_answer(self, actor: Actor, contents: Sequence[bytes]) -> None:
        """Write the access record, under the prescription and its patient."""
        interaction = self.interaction_of_list if self.action == "list" else self.interaction_of_one
        self.record(actor, interaction, [self._patient_id], count=len(contents), one=str(self.kwargs["pk"]))

    def _note(self, own: Rows, held: Rows) -> bool:
        """Note whose prescription it is, and tell whether it is the tenant's own.

        :raises NotFound: the tenant neither owns it nor has dispensed of it.
        """
        for rows in (own, held):
            if len(rows):
                self._patient_id = (rows.value() or b"").decode()
                return rows is own
        raise NotFound("No such prescription.")
