"""What both tenants of a prescription were told of it, and where those events went."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.urls import reverse
from django.utils.http import urlencode

from core.db import tenant_context
from ledger.public import Event
from organizations.staff.deliveries import Told, deliveries_of
from prescriptions.lifecycle.models import Prescription, Route

from .timelines import BAD, GOOD, NEUTRAL, WAITING, Step, words

MOST_FACTS: Final = 200
_NEAR: Final = timedelta(minutes=2)
_TONES: Final = {"delivered": GOOD, "failed": BAD}


@dataclass(frozen=True, slots=True)
class Audience:
    """A tenant that was told, and what it is called on the page."""

    tenant_id: UUID
    name: str
    is_owner: bool


def audiences_of(row: Prescription) -> list[Audience]:
    """Return the owner and each pharmacy to which the prescription was routed; the owner must be bound."""
    found = {row.tenant_id: Audience(row.tenant_id, "the owner", True)}
    for route in Route.objects.filter(tenant_id=row.tenant_id, prescription_id=row.pk).order_by("routed_at", "id"):
        found.setdefault(route.dispenser_tenant_id, Audience(route.dispenser_tenant_id, route.pharmacy_name, False))
    return list(found.values())


def told_steps(row: Prescription, audience: Audience) -> list[Step]:
    """Read, bound to the audience, the events that it was told of a prescription, and their deliveries."""
    with tenant_context(audience.tenant_id):
        kept = Event.objects.filter(tenant_id=audience.tenant_id, resource_id=row.pk)
        facts = list(kept.order_by("-occurred_at", "-id")[:MOST_FACTS])
        told = deliveries_of(audience.tenant_id, row.pk, sorted({fact.occurred_at for fact in facts}))
    gone = [fact for fact in facts if not any(_is_of(one, fact) for one in told)]
    return [*(_told_step(one, audience) for one in told), *(_gone_step(fact, audience) for fact in gone)]


def _is_of(one: Told, fact: Event) -> bool:
    return one.type == fact.type and abs(one.at - fact.occurred_at) < _NEAR


def _told_step(one: Told, audience: Audience) -> Step:
    page = _page(one, audience)
    if not one.state:
        title = f"Event for {audience.name}: {one.type}"
        return Step(one.at, "webhook", title, ("no endpoint wanted it",), NEUTRAL, page)
    tries = f"{one.attempts} attempt{'' if one.attempts == 1 else 's'}"
    # Where another tenant's events go is that tenant's own affair; that they arrive is not.
    where = (f"to {one.endpoint}",) if audience.is_owner else ()
    ended = f", at {one.done_at:%H:%M:%S}" if one.done_at else ""
    told = (f"{words(one.state)} after {tries}{ended}", *where)
    return Step(
        one.at, "webhook", f"Webhook to {audience.name}: {one.type}", told, _TONES.get(one.state, WAITING), page
    )


def _gone_step(fact: Event, audience: Audience) -> Step:
    told = ("in the ledger alone; webhooks keep no history of it any more",)
    return Step(fact.occurred_at, "webhook", f"Event for {audience.name}: {fact.type}", told, NEUTRAL)


def _page(one: Told, audience: Audience) -> str:
    """Return the page of the delivery; that of another tenant opens once the member of staff acts in it."""
    if audience.is_owner:
        return one.page
    query = urlencode({"tenant": str(audience.tenant_id), "next": one.page})
    return f"{reverse('admin:acting_tenant')}?{query}"
