"""Changes of a lot: held back, released, recalled, its expiry date corrected. Source: contract, supply-shelf.md "Lot"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast
from uuid import UUID

from core.actor import Actor
from core.db import bind_call, needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.model_rows import save_call
from core.pipeline import Call, Statement, run
from ledger.public import Occurrence
from organizations.public import CounterpartyOnly
from suppliers.catalog import availability

from .events import LotEvent, LotQuarantined, LotReleased, LotUpdated
from .items.models import StockItem
from .levels import changed, levels_of_products, read_levels
from .models import Lot, StockLevel
from .movements.writing import finish, side_of
from .queries import WITHIN
from .recalls.issuing import columns_of, current_recall, issue, may_withdraw, recalled, withdraw
from .recalls.models import Recall
from .refusals import LotRecalled, WithdrawalNotPermitted
from .reservations import changes
from .reservations.breaking import NOTHING, break_all
from .reservations.order_books import hold_orders
from .states import LotStatus

_TOLD: Final[dict[str, type[LotEvent]]] = {
    LotStatus.QUARANTINED.value: LotQuarantined,
    LotStatus.RELEASED.value: LotReleased,
}  # a recall has a fact of its own

_STATUS = Statement.of("SELECT l.status FROM suppliers_lot l WHERE l.tenant_id = $1 AND l.id = $2")


@needs_transaction
def locked_lot(actor: Actor, lot_id: UUID) -> Lot:
    """Return the tenant's lot, locked until the transaction ends, behind the orders to which some of it is allocated.

    :raises NotFound: the tenant has no such lot, or some of it lies out of the membership's reach.
    """
    hold_orders(actor.tenant_id, lot_id=lot_id)
    found: Lot | None = Lot.objects.of(actor).select_for_update(no_key=True).filter(pk=lot_id).first()
    if found is None:
        raise NotFound("No such lot.")
    if actor.location_ids:
        places = StockLevel.objects.of(actor).filter(lot_id=lot_id).values_list("location_id", flat=True)
        if not WITHIN.holds(actor, *places):
            raise NotFound("No such lot.")
    return found


@needs_transaction
def change_lot(actor: Actor, lot: Lot, data: Mapping[str, Any], at: datetime) -> Lot:
    """Hold a locked lot back, release or recall it, or correct its expiry date; nothing happens where nothing differs.

    :raises InvalidFields: the reason is missing, or what a recall says.
    :raises CounterpartyOnly: the lot is of another's product, and only the owner of its origin recalls it.
    :raises LotRecalled: the lot or its origin is recalled: it is not released, and recalled otherwise only once that was
        withdrawn.
    :raises WithdrawalNotPermitted: the recall is withdrawn, and the actor is no administrator of the supplier.
    """
    if not data.get("reason"):  # a PATCH may leave out what its body names
        raise InvalidFields(errors=[FieldError("reason", "required", "Say why.")])
    wanted = data.get("status") or lot.status
    if wanted != lot.status and is_anothers(lot):
        _check_origin(lot, wanted)
    said = _said_of(data, lot)
    names: list[str] = []
    kinds: list[type[LotEvent]] = []
    if data.get("expiry_date") and data["expiry_date"] != lot.expiry_date:
        names += [*lot.assign({"expiry_date": data["expiry_date"]}), "expiry_told"]
        lot.expiry_told = None  # the new date is told of anew
        kinds.append(LotUpdated)
    ended: Recall | None = None
    if wanted != lot.status:
        ended = _turn(actor, lot, wanted, data["reason"])
        names += ["status", "status_reason"]
        kinds += [kind for status, kind in _TOLD.items() if status == wanted]
    if names:
        _write(actor, Change(lot, names, kinds, data["reason"], said, ended), at)
    return lot


def is_anothers(lot: Lot) -> bool:
    """Tell whether the product or the origin of a lot is another tenant's."""
    held = StockItem.objects.filter(tenant_id=lot.tenant_id, pk=lot.product_id, own_product__isnull=True)
    return lot.origin_tenant_id is not None or bool(held.exists())


@needs_transaction
def _check_origin(lot: Lot, wanted: str) -> None:
    """Refuse what only the owner of the origin may do to a buyer's lot.

    :raises CounterpartyOnly, LotRecalled: as `change_lot`.
    """
    if wanted == LotStatus.RECALLED:
        raise CounterpartyOnly("A lot is recalled by the supplier whose product it is.")
    if lot.status == LotStatus.RECALLED:
        raise LotRecalled("The supplier has recalled the lot, and has not withdrawn the recall.")
    if lot.origin_tenant_id is None:
        return
    owner, origin = str(lot.origin_tenant_id), str(lot.origin_lot_id)
    _, found, _ = run(
        [bind_call(lot.origin_tenant_id), Call(_STATUS, [owner, origin]), bind_call(lot.tenant_id)],
    )
    if (found.value() or b"").decode() == LotStatus.RECALLED:
        raise LotRecalled("The supplier has recalled the lot.")


def _said_of(data: Mapping[str, Any], lot: Lot) -> Mapping[str, Any] | None:
    """Return what the body says of a recall that is to be issued; None where none is.

    :raises InvalidFields: the class is missing, or a recall is described and not issued.
    :raises LotRecalled: the lot is recalled with other words.
    """
    said, is_asked = data.get("recall"), data.get("status") == LotStatus.RECALLED
    if said and not is_asked:
        message = "A recall is issued with the status recalled."
        raise InvalidFields(errors=[FieldError("status", "required", message)])
    if not is_asked:
        return None
    if not (said and said.get("class")):
        raise InvalidFields(errors=[FieldError("recall.class", "required", "Say how grave the danger is.")])
    current = current_recall(lot) if lot.status == LotStatus.RECALLED else None
    if current and any(getattr(current, name) != value for name, value in columns_of(said).items()):
        raise LotRecalled("The lot is recalled with other words; withdraw that recall first.")
    return cast("Mapping[str, Any]", said)


def _turn(actor: Actor, lot: Lot, wanted: str, reason: str) -> Recall | None:
    """Move the lot to another status; return the recall that ends by it, locked."""
    if wanted == LotStatus.RECALLED:
        lot.recall(reason)
        return None
    if lot.status != LotStatus.RECALLED:
        (lot.quarantine if wanted == LotStatus.QUARANTINED else lot.release)(reason)
        return None
    if wanted == LotStatus.RELEASED:
        raise LotRecalled("The lot is recalled; withdraw the recall first.")
    if not may_withdraw(actor):
        raise WithdrawalNotPermitted
    lot.withdraw_recall(reason)
    return current_recall(lot)


@dataclass(frozen=True, slots=True)
class Change:
    """What changes of a lot: columns and facts, why, what a new recall says, and the recall that ends."""

    lot: Lot
    names: Sequence[str]
    kinds: Sequence[type[LotEvent]]
    reason: str
    said: Mapping[str, Any] | None
    ended: Recall | None


def _write(actor: Actor, change: Change, at: datetime) -> None:
    """Save the lot; in quarantine, break what is reserved of it; in a recall, count the buyers who are to be told.

    Reservations, ended ones too, show when their lots expire: a correction writes them anew.
    """
    lot, tenant_id = change.lot, change.lot.tenant_id
    saved = save_call(lot, *change.names, at=at)  # before the levels are read, which show whether the lot may be sold
    renewing = [changes.renew_call(lot, at)] if "expiry_date" in change.names else []
    _, _, shelf, promised, *renewed = run([saved, *levels_of_products(tenant_id, [lot.product_id], at), *renewing])
    levels = read_levels(shelf, promised)
    mine = [key for key, level in levels.items() if level.row.lot_id == lot.id]
    holds = lot.status == LotStatus.QUARANTINED and "status" in change.names
    freed = break_all(tenant_id, levels, mine, at, reason="quarantine") if holds else NOTHING
    freed = freed.with_rows(row for found in renewed for row in changes.reservations_of(found))
    calls = [*freed.calls]
    moved, news = changed(tenant_id, levels.values(), at, by=side_of(actor), also=mine)
    facts = [Occurrence(_event(actor, kind, lot), lot.id, lot.version) for kind in change.kinds]
    if change.ended:
        calls = [withdraw(change.ended, change.reason, at), *calls]
    if lot.status == LotStatus.RECALLED and change.said and "status" in change.names:
        recall, written = issue(lot, change.said, change.reason, at)
        calls = [*calls, written]
        facts.append(Occurrence(recalled(recall), lot.id, lot.version))
    calls += availability.refresh_calls(tenant_id, [lot.product_id], at)
    finish(actor, [*moved, *calls], changes.joined({tenant_id: [*facts, *news]}, freed.told), freed, at, [])


def _event(actor: Actor, kind: type[LotEvent], lot: Lot) -> LotEvent:
    return kind(
        product_id=str(lot.product_id),
        lot_number=lot.lot_number,
        status=lot.status,
        expiry_date=lot.expiry_date.isoformat() if lot.expiry_date else None,
        by=side_of(actor),
    )
