"""Recalled lots, and what the buyers answer, for the tests of recalls."""

from typing import Any
from uuid import UUID

from django.db import transaction

from core import clock
from core.actor import Actor, Subject, SubjectKind
from core.db import bind_tenant, tenant_context
from core.ids import uuid7
from core.pipeline import run
from ledger import public as ledger
from suppliers.inventory.models import Lot
from suppliers.inventory.recalls.answering import HELD_NOTICE, answer_recall
from suppliers.inventory.recalls.buyers import list_buyers
from suppliers.inventory.recalls.models import Recall, RecallNotice, ReceivedRecall
from suppliers.inventory.recalls.walking import walk_batch
from tests.suppliers.inventory.shelf import Buyer, Shelf

LOTS = "/v1/inventory/lots"
SAID = {"class": "II", "reference": "FSCA-14", "authority": "Authority", "instructions": "Set aside."}


def lot_of(shelf: Shelf, number: str = "L1") -> Lot:
    with tenant_context(shelf.id):
        return Lot.objects.get(tenant_id=shelf.id, lot_number=number)


def change(shelf: Shelf, number: str = "L1", api: Any = None, **body: Any) -> Any:
    """Send a change of a lot."""
    return (api or shelf.api).patch(f"{LOTS}/{lot_of(shelf, number).id}", json={"reason": "Seal broken"} | body)


def recall(shelf: Shelf, number: str = "L1", **said: Any) -> dict[str, Any]:
    """Recall a lot; return it as it is answered."""
    answer = change(shelf, number, status="recalled", recall=SAID | said)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def list_concerned(shelf: Shelf) -> list[RecallNotice]:
    """Let the walk begin: return the notices of the buyers whom recalls concern, none of them told yet."""
    list_buyers(shelf.id, clock.now())
    return notices(shelf)


def walk(shelf: Shelf) -> int:
    return walk_batch(shelf.id, clock.now())


def progress(shelf: Shelf, number: str = "L1") -> dict[str, Any]:
    answer = change(shelf, number)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]["recall"]["progress"]
    return found


def notices(shelf: Shelf) -> list[RecallNotice]:
    with tenant_context(shelf.id):
        return list(RecallNotice.objects.filter(tenant_id=shelf.id).order_by("id"))


def recalls(shelf: Shelf) -> list[Recall]:
    with tenant_context(shelf.id):
        return list(Recall.objects.filter(tenant_id=shelf.id).order_by("id"))


def received(buyer: Buyer) -> list[ReceivedRecall]:
    with tenant_context(buyer.id):
        return list(ReceivedRecall.objects.filter(tenant_id=buyer.id).order_by("id"))


def facts(side: Any, prefix: str = "lot.") -> list[Any]:
    with tenant_context(side.id):
        return list(ledger.Event.objects.filter(tenant_id=side.id, type__startswith=prefix).order_by("id"))


def answer(buyer: Buyer, notice_id: UUID, **data: Any) -> RecallNotice:
    """Answer a notice as a member of the buyer does."""
    actor = Actor(subject=Subject(uuid7(), SubjectKind.USER, "session:test"), tenant_id=buyer.id, membership_id=None)
    with transaction.atomic():
        bind_tenant(buyer.id)
        (located,) = run([HELD_NOTICE.locate(buyer.id, notice_id)])
        return answer_recall(actor, HELD_NOTICE(actor, notice_id, located=located), data, clock.now())
