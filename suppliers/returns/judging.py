"""What a supplier may do with goods that came back: what its products, lots, places and members say. Source: contract, supply-invoice.md 4.

All is read bound to the supplier.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson

from core.actor import Actor
from core.arrays import array_literal
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows, Statement
from suppliers.inventory.movements.came_back import own_products, own_products_call
from suppliers.inventory.movements.delivered import Landing, landings_call
from suppliers.inventory.movements.goods import Place, Product
from suppliers.inventory.states import LotStatus

from .disposing import DESTROY, RESTOCK, Disposed
from .models import ReturnLine
from .refusals import DispositionNotAllowed, WitnessRequired
from .states import Condition


class _Controlled(NamedTuple):
    """A controlled product."""

    product_id: UUID


class _LotNow(NamedTuple):
    """A lot as it is now; `expiry_date` in ISO form."""

    product_id: UUID
    lot_number: str
    status: str
    expiry_date: str | None


class _Member(NamedTuple):
    """An active member, by the id of the user."""

    user_id: UUID


_CONTROLLED = Statement.of(
    "SELECT p.id AS product_id FROM suppliers_product p WHERE p.tenant_id = $1 AND p.id = ANY($2::uuid[])"
    " AND p.controlled IS NOT NULL",
    row=_Controlled,
)
_LOTS = Statement.of(
    "SELECT l.product_id, l.lot_number, l.status, l.expiry_date::text FROM suppliers_lot l"
    " JOIN json_to_recordset($2) AS g (product_id uuid, lot_number text)"
    " ON g.product_id = l.product_id AND g.lot_number = l.lot_number WHERE l.tenant_id = $1",
    row=_LotNow,
)
_MEMBERS = Statement.of(
    "SELECT m.user_id FROM organizations_membership m WHERE m.tenant_id = $1 AND m.user_id = ANY($2::uuid[])"
    " AND m.status = 'active'",
    row=_Member,
)
_ZONE = Statement.of("SELECT n.time_zone FROM organizations_tenant n WHERE n.id = $1")


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of the supplier's goods, places and members; `today` is the date at the supplier."""

    products: Mapping[UUID, Product]
    controlled: frozenset[UUID]
    lots: Mapping[tuple[UUID, str], tuple[str, date | None]]
    members: frozenset[UUID]
    landings: Mapping[UUID, Landing]
    today: date

    def places(self) -> dict[UUID, Place]:
        """The places as the stock needs them."""
        return {key: Place(key, one.sellable, one.min_c, one.max_c) for key, one in self.landings.items()}


def knowing_calls(actor: Actor, lines: Sequence[ReturnLine], found: Sequence[Disposed], home: UUID) -> list[Call]:
    """Return the statements that read what an inspection is held against; `known` reads their rows."""
    own = actor.tenant_id
    products = {one.product_id for one in lines if one.product_id}
    lots = [{"product_id": str(one.product_id), "lot_number": one.lot_number} for one in lines if one.product_id]
    places = {one.location_id for one in found if one.location_id}
    witnesses = {one.witness for one in found if one.witness}
    return [
        own_products_call(own, products),
        Call(_CONTROLLED, [str(own), array_literal(products)]),
        Call(_LOTS, [str(own), orjson.dumps(lots)]),
        Call(_MEMBERS, [str(own), array_literal(witnesses)]),
        landings_call(actor, places, home),
        Call(_ZONE, [str(own)]),
    ]


def known(found: Sequence[Rows], at: datetime) -> Known:
    """Return what `knowing_calls` has read."""
    products, controlled, lots, members, landings, zone = found
    return Known(
        own_products(products),
        frozenset(one.product_id for one in controlled.of(_Controlled)),
        {
            (one.product_id, one.lot_number): (
                one.status,
                date.fromisoformat(one.expiry_date) if one.expiry_date else None,
            )
            for one in lots.of(_LotNow)
        },
        frozenset(one.user_id for one in members.of(_Member)),
        {one.location_id: one for one in landings.of(Landing) if one.is_named},
        at.astimezone(ZoneInfo((zone.value() or b"UTC").decode())).date(),
    )


def check_named(found: Sequence[Disposed], have: Known, *, is_kept: bool) -> None:
    """Require places for what is sold again, and witnesses that are members; with `is_kept` the goods lie in stock.

    :raises InvalidFields: names each line.
    """
    errors = [error for one in found for error in _unnamed(one, have, is_kept=is_kept)]
    if errors:
        raise InvalidFields(errors=errors)


def _unnamed(one: Disposed, have: Known, *, is_kept: bool) -> Iterator[FieldError]:
    name = f"lines.{one.number}"
    if one.witness and one.witness not in have.members:
        yield FieldError(f"{name}.witness", "unknown_member", "There is no such active member.")
    if one.location_id is not None and one.disposition != RESTOCK:
        yield FieldError(f"{name}.location_id", "invalid", "Only goods that are sold again are put somewhere.")
    elif one.location_id is None:
        if one.disposition == RESTOCK and is_kept and one.line.product_id in have.products:
            yield FieldError(f"{name}.location_id", "required", "Say where the goods are put.")
    elif (place := have.landings.get(one.location_id)) is None:
        yield FieldError(f"{name}.location_id", "unknown_location", "There is no such location.")
    elif not place.tracks or not place.sellable:
        yield FieldError(f"{name}.location_id", "not_for_sale", "The place keeps no stock that is for sale.")


def refuse_disposed(actor: Actor, found: Sequence[Disposed], have: Known) -> None:
    """Refuse to sell again what must not be, and to destroy controlled goods without a witness.

    :raises DispositionNotAllowed, WitnessRequired: name each line.
    """
    if errors := [
        FieldError(f"lines.{one.number}.disposition", DispositionNotAllowed.code, why)
        for one in found
        if one.disposition == RESTOCK
        for why in _unfit(one, have)
    ]:
        raise DispositionNotAllowed(errors=errors)
    if errors := [
        FieldError(f"lines.{one.number}.witness", WitnessRequired.code, "A second member has to see it.")
        for one in found
        if one.disposition == DESTROY
        and one.line.product_id in have.controlled
        and one.witness in (None, actor.subject_id)
    ]:
        raise WitnessRequired(errors=errors)


def _unfit(one: Disposed, have: Known) -> Iterator[str]:
    """Yield why goods must not be sold again."""
    line = one.line
    if line.cold_chain and not (one.file_ids or line.file_ids):
        yield "The goods must stay cold: name the record of their logger in file_ids."
    if line.condition == Condition.OPENED:
        yield "The goods were opened."
    if line.product_id is None:
        return
    if line.product_id in have.controlled:
        yield "The goods are controlled."
    status, expiry = have.lots.get((line.product_id, line.lot_number), ("", line.expiry_date))
    if status == LotStatus.RECALLED:
        yield "The lot is recalled."
    if expiry is not None and expiry < have.today:
        yield "The lot is expired."
