"""A hospital whose orders need approvals: short ways to submit, decide and read them."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from core.clock import now, rfc3339
from core.db import tenant_context
from procurement.approvals.models import Approval, ApprovalStep
from suppliers.orders.course import Place
from suppliers.orders.models import PurchaseOrder
from tests.factories import Api, as_member, bearer, member
from tests.procurement.purchasing import orders
from tests.procurement.purchasing.orders import PATH, Trade, submitted

APPROVED, REJECTED = "purchase_order.approved", "purchase_order.approval_rejected"
ONE = [{"over_amount": "49.00", "approvals": 1}]
TWO = [{"over_amount": "49.00", "approvals": 2}]


@dataclass(frozen=True)
class Person:
    """A member of the buyer with its client."""

    api: Api
    id: str
    membership: UUID

    def client(self) -> Api:
        """Return a further client, for a thread of its own."""
        api = Api()
        api.headers = self.api.headers
        return api


@dataclass
class Desk:
    """A trade whose orders need approvals."""

    trade: Trade

    @property
    def tenant(self) -> Any:
        return self.trade.buyer.tenant

    def policies(self, **values: Any) -> None:
        """Settle policies of the buyer."""
        path = f"/v1/tenants/{self.trade.buyer.id}/configuration"
        answer = as_member(self.tenant).patch(path, json={"policies": values})
        assert answer.status_code == 200, answer.content

    def delegate(self, *pairs: tuple[Person, Person], hours: float = 1) -> None:
        """Let the second of each pair decide in the place of the first for some hours."""
        until = rfc3339(now() + timedelta(hours=hours))
        self.policies(
            approval_delegation=[
                {"from": str(one.membership), "to": str(other.membership), "until": until} for one, other in pairs
            ]
        )

    def person(self, *roles: str, **terms: Any) -> Person:
        """Make a member of the buyer, by default an approver."""
        user, row = member(self.tenant, roles or ("approver",), **terms)
        return Person(Api(token=bearer(user), tenant=self.tenant), str(user.id), row.id)

    def pending(self, **changes: Any) -> dict[str, Any]:
        """Submit an order of 53.90 that waits for its approval."""
        found = submitted(self.trade, (self.trade.gloves, 11), **changes)
        assert (found["status"], found["approval_for"]) == ("pending_approval", "sending"), found
        return found

    def rows(self) -> list[Approval]:
        """Return the stored approvals."""
        with tenant_context(self.trade.buyer.id):
            return list(Approval.objects.filter(tenant_id=self.trade.buyer.id).order_by("at", "id"))

    def steps(self) -> list[ApprovalStep]:
        """Return the steps that wait."""
        with tenant_context(self.trade.buyer.id):
            return list(ApprovalStep.objects.filter(tenant_id=self.trade.buyer.id).order_by("id"))

    def told(self) -> list[str]:
        """Return what the buyer was told, without the creation of orders."""
        return [kind for kind, *_ in self.trade.facts() if kind != "purchase_order.created"]

    def heard(self) -> list[str]:
        """Return what the supplier was told."""
        return [kind for kind, *_ in self.trade.facts(self.trade.shelf.tenant)]

    def put_at(self, key: str, *path: Place) -> None:
        """Lead a stored order through states by its row alone, as other actions would."""
        with tenant_context(self.trade.buyer.id):
            for place in path:
                row = PurchaseOrder.objects.get(tenant_id=self.trade.buyer.id, pk=key)
                if place.status in ("sent", "accepted"):
                    row.order_number, row.sent_at = row.order_number or "SO-9", row.sent_at or now()
                row.accepted_at = row.accepted_at or (now() if place.status == "accepted" else None)
                row.become(place)
                names = ("status", "approval_for", "proposed_by", "order_number", "sent_at", "accepted_at")
                row.save_version(*names, at=now())


def desk() -> Desk:
    """Make a buyer and a supplier; orders above 49 need one approval."""
    made = Desk(orders.trade())
    made.policies(approval_steps=ONE)
    return made


def decide(person: Person | Api, key: str, action: str = "approve", **body: Any) -> Any:
    """Ask for a decision about the first revision of an order."""
    api = person.api if isinstance(person, Person) else person
    given = {"revision": 1, **({"reason": "Too much"} if action == "reject" else {})} | body
    return api.post(f"{PATH}/{key}/{action}", json=given)


def done(answer: Any) -> dict[str, Any]:
    """Require a decision that was taken; return the order."""
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found
