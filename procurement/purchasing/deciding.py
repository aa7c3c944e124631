"""An order before its approver: who may decide it, and what keeps a decision from being taken.

Source: contract, supply-order.md 2 "Approvals"; access.md, checks 9 and 13.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from core import clock
from core.actor import Actor
from core.db import needs_transaction
from core.errors import Forbidden
from core.pipeline import Call, Rows
from core.targets import Located
from procurement.approvals.decisions import Approver, Decided, of_revision, people_of
from procurement.approvals.delegations import approver_of
from procurement.approvals.refusals import AlreadyDecided
from suppliers.public import PurchaseOrder, Who, check_revision, require

from .finding import WITHIN
from .peeking import Peeked, PeekedOrder


@dataclass(frozen=True, slots=True, eq=False)
class Deciding:
    """An order, and who decides it."""

    order: Peeked
    approver: Approver

    @property
    def row(self) -> PurchaseOrder:
        """The order."""
        return self.order.row

    @property
    def version(self) -> int:
        """The version that the caller's ETag shows."""
        return self.order.version

    @property
    def before(self) -> list[Decided]:
        """What was decided before about the present revision, for the same purpose."""
        return of_revision(self.row, self.order.decided)

    def check(self, action: str, revision: int) -> None:
        """Require that the approver can decide the revision.

        :raises InvalidTransition: it waits for no approval.
        :raises RevisionChanged: it is of another revision than the approver has read.
        :raises AlreadyDecided: the approver, or in whose place, has decided it before.
        """
        row = self.row
        require(row.place, action, Who.APPROVER)
        check_revision(row, revision)
        if people_of(self.before) & {self.approver.id, self.approver.delegated_by}:
            raise AlreadyDecided


@dataclass(frozen=True, slots=True, eq=False)
class OrderToDecide(Located):
    """The `find` of a decision; `refusal` makes what is raised to a caller who may decide nothing at all."""

    peek: PeekedOrder
    refusal: Callable[[], Forbidden]

    def locate(self, tenant_id: UUID, *path: Any) -> Call:
        """Return the statement that finds the order's owner in the trip of the proof."""
        return self.peek.locate(tenant_id, *path)

    @needs_transaction
    def __call__(self, actor: Actor, *path: Any, located: Rows) -> Deciding:
        """Look at the order, and find by whose right the caller decides it.

        :raises NotFound, CounterpartyOnly: as `PeekedOrder`.
        :raises Forbidden: the caller has no right to approve, and nobody has delegated one that reaches the order.
        :raises SeparationOfDuties: the caller is an author of the revision, or only the delegate of one.
        """
        order = self.peek(actor, *path, located=located)
        row = order.row
        approver = approver_of(
            actor, order.policies, authors=row.authors, decided=_people(order), location_id=row.delivery_location_id,
            within=WITHIN, at=clock.now(),
        )  # fmt: skip
        if approver is None:
            raise self.refusal()
        return Deciding(order, approver)


def _people(order: Peeked) -> set[UUID]:
    return people_of(of_revision(order.row, order.decided))
