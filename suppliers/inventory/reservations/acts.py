"""What a buyer does with a reservation that it holds: extend and release. Source: contract, supply-shelf.md section 7."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from core.actor import Actor
from core.db import needs_transaction
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, ReadBack, run
from organizations.public import SharedDocument, TwoParty
from suppliers.catalog import availability
from suppliers.company.settings import settings_call, settings_of
from suppliers.inventory.events import ReservationExtended, ReservationReleased
from suppliers.inventory.levels import changed, levels_of_reservations, lock_levels_of, read_levels
from suppliers.inventory.models import Reservation
from suppliers.inventory.refusals import ReservationExpired, ReservationLimit, ReservationNotActive
from suppliers.inventory.states import ReservationKind, ReservationStatus

from . import changes

EXTENSIONS: Final = 3  # how often a reservation may be extended
TTL: Final = 900  # seconds, where the buyer asks for no time
BY = "buyer"


@dataclass(frozen=True, slots=True, eq=False)
class HeldReservation(TwoParty):
    """The `find` of an action on a reservation: its levels are locked before it."""

    def locks_before(self, owner_id: UUID, *path: Any) -> Sequence[Call]:
        """Lock the levels that the reservation holds something of."""
        return [lock_levels_of(owner_id, [path[0]])]


def _check_active(row: Reservation) -> None:
    """Refuse a reservation that has ended.

    :raises ReservationExpired, ReservationNotActive: as named.
    """
    if row.status == ReservationStatus.EXPIRED:
        raise ReservationExpired
    if row.status != ReservationStatus.ACTIVE:
        raise ReservationNotActive(state=row.status)


@needs_transaction
def release(actor: Actor, target: SharedDocument, at: datetime) -> Reservation:
    """Give the stock of a reservation back.

    :raises ReservationExpired, ReservationNotActive: it has ended.
    """
    row: Reservation = target.row
    _check_active(row)
    found, held = run([levels_of_reservations(row.tenant_id, [row.id]), changes.held_call(row.tenant_id, [row.id])])
    levels = read_levels(found)
    row.release()
    changes.give_back(levels, changes.held_of(held))
    moved, news = changed(row.tenant_id, levels.values(), at, by=BY)
    ended = changes.ending_calls([row], at)
    told = changes.joined({row.tenant_id: news}, changes.told_of(ReservationReleased, [row], BY))
    stocked = availability.refresh_calls(row.tenant_id, [row.product_id], at)
    target.write([*moved, *ended, *stocked], told=told, at=at)
    return row


@needs_transaction
def extend(
    actor: Actor, target: SharedDocument, data: Mapping[str, Any], at: datetime, reading: ReadBack | None = None
) -> Reservation:
    """Let a soft reservation last for so many seconds from now.

    :raises ReservationExpired: its time is over.
    :raises ReservationNotActive: it has ended, or a lot of it is recalled.
    :raises ReservationLimit: it was extended as often as may be, or it ends with its order.
    :raises InvalidFields: it is not said for how long, or longer than the supplier allows.
    """
    if "ttl_seconds" not in data:  # a PATCH may leave out what its body names
        raise InvalidFields(errors=[FieldError("ttl_seconds", "required", "Say for how long.")])
    row: Reservation = target.row
    _check_active(row)
    if row.kind != ReservationKind.SOFT or row.extensions >= EXTENSIONS:
        raise ReservationLimit(f"A reservation can be extended {EXTENSIONS} times.")
    if row.expires_at is None or row.expires_at <= at:
        raise ReservationExpired
    settings = settings_call(row.tenant_id, row.buyer_tenant_id)
    stored, found = run([settings, levels_of_reservations(row.tenant_id, [row.id])])
    if any(level.row.is_recalled for level in read_levels(found).values()):  # void, though not yet broken
        raise ReservationNotActive(state=ReservationStatus.BROKEN.value)
    lasting = ttl_of(data, settings_of(stored))
    row.extend()
    row.extensions += 1
    row.expires_at = at + lasting
    calls = changes.prolonging_calls(row, at)
    target.write(calls, told=changes.told_of(ReservationExtended, [row], BY), at=at, reading=reading)
    return row


def ttl_of(data: Mapping[str, Any], settings: Mapping[str, Any]) -> timedelta:
    """Return for how long a reservation is asked, held to what the supplier allows.

    :raises InvalidFields: it is longer.
    """
    most = settings["max_soft_minutes"] * 60
    seconds = data.get("ttl_seconds", min(TTL, most))
    if seconds > most:
        message = f"The supplier keeps reservations for at most {most} seconds."
        raise InvalidFields(errors=[FieldError("ttl_seconds", "max_value", message)])
    return timedelta(seconds=seconds)
