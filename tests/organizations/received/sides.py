"""Two parties of a parcel and what they see of it."""

from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from core.db import tenant_context
from core.invariants import breaches
from ledger import public as ledger
from organizations.models import Tenant
from tests import factories
from tests.factories import Api
from webhooks.models import Event as Message


@dataclass
class Side:
    """One party: its tenant, and a member's client."""

    tenant: Tenant
    api: Api

    @property
    def id(self) -> UUID:
        return self.tenant.id

    def client(self) -> Api:
        """A further client of the same member, for a thread of its own."""
        api = Api()
        api.headers = self.api.headers
        return api


def side() -> Side:
    tenant = factories.provision("supplier")
    return Side(tenant, factories.as_member(tenant, ["supplier_admin"]))


@dataclass
class World:
    """Both parties and the addresses of one parcel."""

    sender: Side
    carrier: Side
    id: str

    @property
    def own(self) -> str:
        return f"/v1/parcels/{self.id}"

    @property
    def copy(self) -> str:
        return f"/v1/received-parcels/{self.id}"

    def seen_by_sender(self) -> dict[str, Any]:
        return data(self.sender.api.get(self.own))

    def seen_by_carrier(self) -> dict[str, Any]:
        return data(self.carrier.api.get(self.copy))


def data(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return answer.json()["data"]


def draft(sender: Side, carrier: Side, lines: int = 2) -> World:
    body = {
        "number": f"P-{factories.suffix()}", "carrier_id": str(carrier.id), "note": "mind the steps",
        "internal_note": "secret-of-the-sender", "lines": [{"sku": f"s{n}", "quantity": n} for n in range(lines)],
    }  # fmt: skip
    return World(sender, carrier, data(sender.api.post("/v1/parcels", json=body), 201)["id"])


def broken(*sides: Side) -> list[Any]:
    """Every breach of an invariant in the tenants."""
    return [breach for one in sides for breach in breaches(one.id)]


class Told(NamedTuple):
    """One fact of a tenant's ledger, with the message that its webhooks carry."""

    type: str
    version: int
    subject: UUID
    credential: str
    membership_id: UUID | None
    request_id: str
    figures: dict[str, Any] | None
    sequence: int
    body: dict[str, Any]


def told(side: Side, resource_id: str) -> list[Told]:
    """What a tenant was told of a resource, in the order of the sequence."""
    with tenant_context(side.id):
        facts = ledger.Event.objects.filter(tenant_id=side.id, resource_id=resource_id).order_by("id")
        messages = Message.objects.filter(tenant_id=side.id, resource_id=resource_id).order_by("sequence")
        pairs = list(zip(facts, messages, strict=True))
    return [
        Told(
            fact.type, fact.resource_version, fact.subject_id, fact.credential, fact.membership_id, fact.request_id,
            fact.figures, message.sequence, orjson.loads(bytes(message.body)),
        )
        for fact, message in pairs
    ]  # fmt: skip


def everything(side: Side) -> str:
    """All that the ledger and the webhooks of a tenant hold, as one text."""
    with tenant_context(side.id):
        facts = list(ledger.Event.objects.filter(tenant_id=side.id).values())
        messages = [bytes(one.body).decode() for one in Message.objects.filter(tenant_id=side.id)]
    return f"{facts}{messages}"
