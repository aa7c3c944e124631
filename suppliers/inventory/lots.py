"""Changes of a lot: held back, released, its expiry date corrected. Source: contract, supply-shelf.md "Lot"."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields, NotFound
from core.model_rows import save_call
from core.pipeline import run
from ledger.public import Occurrence

from .events import LotEvent, LotQuarantined, LotReleased, LotUpdated
from .levels import changed, levels_of_products, read_levels
from .models import Lot, StockLevel
from .movements.writing import BY, finish
from .queries import WITHIN
from .reservations import changes
from .reservations.breaking import break_all
from .states import LotStatus


@needs_transaction
def locked_lot(actor: Actor, lot_id: UUID) -> Lot:
    """Return the tenant's lot, locked until the transaction ends.

    :raises NotFound: the tenant has no such lot, or some of it lies out of the membership's reach.
    """
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
    """Hold a locked lot back, release it, or correct its expiry date; nothing happens where nothing differs.

    :raises InvalidFields: the reason is missing.
    :raises InvalidTransition: the lot is recalled.
    """
    if not data.get("reason"):  # a PATCH may leave out what its body names
        raise InvalidFields(errors=[FieldError("reason", "required", "Say why.")])
    names: list[str] = []
    kinds: list[type[LotEvent]] = []
    if data.get("expiry_date") and data["expiry_date"] != lot.expiry_date:
        names += lot.assign({"expiry_date": data["expiry_date"]})
        kinds.append(LotUpdated)
    wanted = data.get("status") or lot.status
    if wanted != lot.status:
        (lot.quarantine if wanted == LotStatus.QUARANTINED else lot.release)(data["reason"])
        names += ["status", "status_reason"]
        kinds.append(LotQuarantined if wanted == LotStatus.QUARANTINED else LotReleased)
    if names:
        _write(actor, lot, names, kinds, at)
    return lot


def _write(actor: Actor, lot: Lot, names: list[str], kinds: list[type[LotEvent]], at: datetime) -> None:
    """Save the lot; in quarantine, break what is reserved of it."""
    tenant_id = lot.tenant_id
    found = run(levels_of_products(tenant_id, [lot.product_id], at))
    levels = read_levels(found[1], found[2])
    mine = [key for key, level in levels.items() if level.row.lot_id == lot.id]
    holds = lot.status == LotStatus.QUARANTINED and "status" in names
    calls, told, ended = break_all(tenant_id, levels, mine, at, reason="quarantine") if holds else ([], {}, [])
    moved, news = changed(tenant_id, levels.values(), at, by=BY)
    saved = save_call(lot, *names, at=at)
    facts = [Occurrence(_event(kind, lot), lot.id, lot.version) for kind in kinds]
    finish(actor, [saved, *moved, *calls], changes.joined({tenant_id: [*facts, *news]}, told), ended, at)


def _event(kind: type[LotEvent], lot: Lot) -> LotEvent:
    return kind(
        product_id=str(lot.product_id),
        lot_number=lot.lot_number,
        status=lot.status,
        expiry_date=lot.expiry_date.isoformat() if lot.expiry_date else None,
    )
