"""What happens to offers by itself: they expire on the day that they name. Source: contract, supply-shelf.md "Marketplace"."""

from datetime import date, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import QuerySet

from core.actor import system_actor
from core.db import needs_transaction, tenant_context
from core.model_rows import save_all_call
from core.pipeline import run
from core.rounds import GoOn, Rounds, ever
from core.watermark import begin_batch
from ledger import public as ledger
from suppliers.catalog import availability
from suppliers.catalog.market import market_calls
from suppliers.company.today import today_call, today_of
from suppliers.rounds import BATCH, by_rounds

from .events import OfferExpired
from .models import Offer
from .states import LIVE

_EXPIRE: Final = "suppliers.expire_offers"
_expiries = Rounds()
_EASTERNMOST: Final = timedelta(hours=14)  # there it is tomorrow first


def expire_offers(*, at: datetime, go_on: GoOn = ever) -> int:
    """End the published and paused offers whose validity is over by the date at their supplier; return their number."""
    return by_rounds(_EXPIRE, _expiries, _ending((at + _EASTERNMOST).date()), _expire_batch, at, go_on)


def _ending(today: date) -> "QuerySet[Offer]":
    found: QuerySet[Offer] = Offer.objects.filter(status__in=LIVE, valid_to__lte=today)
    return found


def _expire_batch(tenant_id: UUID, at: datetime) -> int:
    with tenant_context(tenant_id):
        return _expire(tenant_id, begin_batch(tenant_id, at))


@needs_transaction
def _expire(tenant_id: UUID, at: datetime) -> int:
    """Lock offers that are due, end them, and tell their supplier."""
    (today,) = run([today_call(tenant_id, at)])
    due = _ending(today_of(today)).filter(tenant_id=tenant_id).select_related("product").order_by("id")
    offers = list(due.select_for_update(of=("self",), no_key=True)[:BATCH])
    for offer in offers:
        offer.expire()
    if offers:
        saved = save_all_call(offers, "status", at=at)
        facts = [ledger.Occurrence(OfferExpired.of(offer), offer.id, offer.version) for offer in offers]
        products = {offer.product_id for offer in offers}
        shown = [*market_calls(tenant_id, products), *availability.refresh_calls(tenant_id, products, at)]
        run([saved, *shown, *ledger.statements_of_many(actor=system_actor(tenant_id), occurrences=facts, at=at)])
    return len(offers)
