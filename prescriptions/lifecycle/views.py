"""What the viewsets of prescriptions share: records of reads, both sides of an address, replays that are judged again."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.http import HttpResponse

from api import idempotency, preconditions
from api.filters import check_names
from api.listing import Listing, one_call
from api.permissions import InsufficientScope
from api.shapes import Selection, Shape, select
from api.views import ApiViewSet
from core.actor import Actor
from core.arrays import array_literal
from core.conditions import Condition
from core.db import run_bound
from core.errors import NotFound
from core.pipeline import Call, Statement
from fhir_api import public as record
from organizations import public as organizations

from .targets import WITHIN, Judged

READ = "prescriptions.read"
AUDITOR = "auditor"
_PHARMACY_ONLY = frozenset({"pharmacy"})
_PATIENTS = Statement.of(
    "SELECT p.patient_id FROM prescriptions_prescription p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])"
    " UNION SELECT c.patient_id FROM prescriptions_receivedprescription c"
    " WHERE c.tenant_id = $1 AND c.id = ANY($2::uuid[])"
)
_REMEMBERED_AT_MOST = 10_000
_pharmacies: set[UUID] = set()  # tenants that were pharmacies only when they were seen last


class _OtherKind(Exception):
    """A list was begun for a tenant of another kind than it is; the view begins it again."""


def _is_pharmacy_only(actor: Actor) -> bool:
    """Tell whether the actor's tenant is a pharmacy and nothing else."""
    return actor.tenant_kinds == _PHARMACY_ONLY


def _remember(tenant_id: UUID, *, is_pharmacy: bool) -> None:
    if len(_pharmacies) > _REMEMBERED_AT_MOST:
        _pharmacies.clear()
    (_pharmacies.add if is_pharmacy else _pharmacies.discard)(tenant_id)


class PrescriptionsViewSet(ApiViewSet):
    """Base of the viewsets of prescriptions; each read of patients' data leaves an access record.

    `interaction_of_list` and `interaction_of_one` name what the records say.
    """

    family = "prescriptions"
    scope_prefix = "prescriptions."
    feature = "prescriptions"
    interaction_of_list: ClassVar[str] = "rx.list"
    interaction_of_one: ClassVar[str] = "rx.read"
    _expects_pharmacy: bool | None = None  # what a list without a box was begun for

    # -- who may read --------------------------------------------------------------------------------------------------

    def _check(self, actor: Actor) -> None:
        super()._check(actor)
        if self._expects_pharmacy not in (None, _is_pharmacy_only(actor)):
            raise _OtherKind
        if self.operation.scope == READ and AUDITOR in actor.roles:
            self._check_auditor(actor)

    def _check_auditor(self, actor: Actor) -> None:
        """Refuse who may read prescriptions as an auditor alone, unless the tenant's policy lets auditors.

        :raises InsufficientScope: it does not.
        """
        if (actor.roles - {AUDITOR}) & frozenset(organizations.roles_holding(READ)):
            return
        (found,) = run_bound(actor.tenant_id, [organizations.policies_call(actor.tenant_id)])
        if not organizations.policies_of(found)["auditor_reads_prescriptions"]:
            raise InsufficientScope("Auditors do not read prescriptions in this tenant.", required=[READ])

    # -- both sides of an address --------------------------------------------------------------------------------------

    def restrictions(self) -> Sequence[Condition]:
        """The membership's places limit what it sees of the tenant's own."""
        return (WITHIN,)

    def list_of_box(self, boxes: Mapping[str, Listing | None], *, of_pharmacy: str) -> HttpResponse:
        """Answer the list of the box that is asked for; None is the operation's own list.

        Without `box`, a tenant that is a pharmacy only gets the box `of_pharmacy`, any other the operation's own. Which it
        is was seen in an earlier request; the proof, in whose trip the list is read, tells whether that still holds.
        """
        if box := self.request.GET.get("box"):
            return self.list_page(listing=boxes.get(box))
        tenant_id = self._tenant_id()
        is_pharmacy = self._expects_pharmacy = tenant_id in _pharmacies
        try:
            return self.list_page(listing=boxes[of_pharmacy] if is_pharmacy else None)
        except _OtherKind:
            _remember(tenant_id, is_pharmacy=not is_pharmacy)
            self._expects_pharmacy = None
            return self.list_page(listing=None if is_pharmacy else boxes[of_pharmacy])

    def retrieve_of_either(self, own: Shape, copy: Shape) -> HttpResponse:
        """Answer the tenant's own row, else its received copy.

        :raises NotFound: it has neither.
        """
        key, asked = str(self.kwargs[self.lookup_url_kwarg]), {}

        def calls(tenant_id: UUID) -> list[Call]:
            check_names(self.request.GET, ("fields", "include"))
            found = []
            for shape, within in ((own, WITHIN), (copy, None)):
                chosen = select(shape, self.request.GET.get("fields"), self.request.GET.get("include"))
                asked[shape] = chosen
                found.append(one_call(shape, chosen, tenant_id, key, within))
            return found

        actor, rows = self.read(calls)
        for shape, held in zip((own, copy), rows, strict=True):
            if len(held):
                content, version = held.row()
                return self._answer_one(actor, shape, asked[shape], content or b"null", version)
        raise NotFound(f"No such {own.name}.")

    def _answer_one(
        self, actor: Actor, shape: Shape, chosen: Selection, content: bytes, version: bytes | None
    ) -> HttpResponse:
        self.before_answer(actor, [content])
        return self.answer(content, tag=preconditions.tag_of(shape, chosen, content, version))

    # -- records of reads ----------------------------------------------------------------------------------------------

    def before_list(self, actor: Actor, patients: Sequence[str]) -> None:
        """Write the access record of a list that is about to be answered."""
        self.record(actor, self.interaction_of_list, patients, count=len(patients))

    def before_answer(self, actor: Actor, contents: Sequence[bytes]) -> None:
        """Write the access record of what is about to be answered."""
        found = [orjson.loads(content) for content in contents]
        is_list = self.action == "list"
        self.record(
            actor,
            self.interaction_of_list if is_list else self.interaction_of_one,
            self.patients_of(actor, found),
            count=len(found),
            one="" if is_list else str(self.kwargs.get(self.lookup_url_kwarg, "")),
        )

    def patients_of(self, actor: Actor, found: Sequence[Mapping[str, Any]]) -> Sequence[str]:
        """Return whose prescriptions are about to be answered; `fields` may have left the patients out of them."""
        if all("patient_id" in one for one in found):
            return [one["patient_id"] for one in found]
        ids = array_literal(one["id"] for one in found)
        (rows,) = run_bound(actor.tenant_id, [Call(_PATIENTS, [str(actor.tenant_id), ids])])
        return [(rows.value(number) or b"").decode() for number in range(len(rows))]

    def record(self, actor: Actor, interaction: str, patients: Sequence[str], *, count: int = 1, one: str = "") -> None:
        """Write an access record; `one` is the prescription's id."""
        names = sorted({*self.request.GET} - {"fields", "include", "cursor", "limit", "sort"})
        access = record.Access(interaction, "Prescription", one, parameters=names, count=count)
        record.record_read(actor, patients, access)

    # -- replays -------------------------------------------------------------------------------------------------------

    def _replay(self, actor: Actor, replay: idempotency.Replay) -> HttpResponse:
        """Answer what was answered before, if the caller may still act. Source: contract, access.md checks 12 and 13."""
        find = self.operation.find
        if isinstance(find, Judged):
            find.judge_again(actor, *self.kwargs.values())
        return super()._replay(actor, replay)
