"""HTTP of quotes."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.evaluations import EvaluatingViewSet
from api.operations import Operation
from core import clock
from core.actor import Actor
from core.db import run_bound
from core.errors import FieldError, InvalidFields
from core.pipeline import Call, Rows
from suppliers.agreements.refusals import AgreementExhausted, SelfTrade
from suppliers.marketplace.queries import as_market
from suppliers.relationships.queries import own_codes_call, own_codes_of

from .candidates import Good, goods_of, market_call, supplier_call
from .parties import Party, country_of, party_call, party_of, place_call
from .quotes import asked_of, quote_of
from .refusals import PriceNotAvailable
from .representations import BuyerQuoteOut, QuoteOut
from .serializers import BuyerQuoteIn, SupplierQuoteIn
from .shares import taken_calls, taken_of

_PLACE = "delivery_location_id"
_ERRORS = (InvalidFields, SelfTrade, AgreementExhausted, PriceNotAvailable)
_TOLD = (
    "`trace` tells what was looked at, in the order of precedence, and why it does not hold. Caps and budgets that earlier "
    "lines use up are not there for later ones. Totals hold all lines, those with a `refusal` too. Nothing is reserved or "
    "counted. Lines without a price refuse the whole quote: `errors` names each with its `trace`."
)


class SupplierQuoteViewSet(EvaluatingViewSet):
    """The supplier's own quotes for a buyer."""

    data: Mapping[str, Any]
    family = "supplier"
    tag = "Prices"
    tenant_kind = "supplier"
    operation_ids = {"create": "quotePrices"}
    operations = {
        "create": Operation(
            "Quote prices for a buyer",
            "What the buyer would pay, with the whole trace: also lists, rules, promotions and offers that are not for this "
            f"buyer. {_TOLD}",
            scope="pricing:read",
            body=SupplierQuoteIn,
            answer=QuoteOut,
            status=200,
            errors=_ERRORS,
        ),
    }

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the prices."""
        return self.evaluate(self._looks, self._quote)

    def _looks(self, tenant_id: UUID) -> list[Call]:
        data = self.data = self.body()
        if data["buyer_id"] == tenant_id:
            raise SelfTrade
        return [party_call(data["buyer_id"]), *([] if data[_PLACE] else self._calls(tenant_id, None))]

    def _quote(self, _: Actor, rows: Sequence[Rows]) -> dict[str, Any]:
        party, *found = rows
        _check_buyer(party_of(party))
        buyer_id, place = self.data["buyer_id"], self.data[_PLACE]
        if place:
            country = country_of(run_bound(buyer_id, [place_call(buyer_id, place)])[0], _PLACE)
            _, found = self.read(lambda tenant_id: self._calls(tenant_id, country))
        goods = goods_of(found[0])
        taken = _taken(buyer_id, goods, is_sent=True)
        return quote_of(goods, self.data, self.data["currency"], taken=taken)

    def _calls(self, tenant_id: UUID, country: str | None) -> list[Call]:
        data = self.data
        lines, at = asked_of(data["items"], "supplier_sku"), clock.now()
        day = data["on_date"]
        return [supplier_call(tenant_id, data["buyer_id"], lines, at, day=day, country=country, whole=True)]


def _taken(buyer_id: UUID, goods: Sequence[Good], *, is_sent: bool) -> dict[UUID, int]:
    """Read what the buyer has taken of the goods that are short; no trip where none is."""
    calls = taken_calls(buyer_id, goods, clock.now(), is_sent=is_sent)
    return taken_of(run_bound(buyer_id, calls)) if calls else {}


def _check_buyer(party: Party | None) -> None:
    if party is None or not party.is_buyer:
        error = FieldError("buyer_id", "unknown_buyer", "There is no such buyer.")
        raise InvalidFields(errors=[error])


class BuyerQuoteViewSet(EvaluatingViewSet):
    """The buyer's quotes of any suppliers."""

    data: Mapping[str, Any]
    family = "procurement"
    tenant_kind = "buyer"
    feature = "procurement"
    operation_ids = {"create": "quoteBasket"}
    operations = {
        "create": Operation(
            "Quote a basket",
            "What the tenant would pay its suppliers. A product of which the tenant sees no offer has no price but an agreed "
            f"one. {_TOLD}",
            scope="procurement.read",
            body=BuyerQuoteIn,
            answer=BuyerQuoteOut,
            status=200,
            errors=_ERRORS,
        ),
    }

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the prices."""
        return self.evaluate(self._looks, self._quote)

    def _looks(self, tenant_id: UUID) -> list[Call]:
        data = self.data = self.body()
        asked = [party_call(tenant_id), own_codes_call(tenant_id, [one["own_code"] for one in data["items"]])]
        if data[_PLACE]:
            return [*asked, place_call(tenant_id, data[_PLACE])]
        return [*asked, *self._calls(tenant_id, None)]

    def _quote(self, actor: Actor, rows: Sequence[Rows]) -> dict[str, Any]:
        party, codes, *found = rows
        if self.data[_PLACE]:
            country = country_of(found[0], _PLACE)
            _, found = self.read(lambda tenant_id: self._calls(tenant_id, country))
        goods = goods_of(found[-1])
        if own := [one.row.n - 1 for one in goods if one.row.supplier_id == actor.tenant_id]:
            raise SelfTrade(errors=[FieldError(f"items.{number}", SelfTrade.code, SelfTrade.title) for number in own])
        buyer = party_of(party)
        currency = self.data["currency"] or (buyer.currency if buyer else "")
        taken = _taken(actor.tenant_id, goods, is_sent=False)
        return quote_of(goods, self.data, currency, taken=taken, own_codes=own_codes_of(codes))

    def _calls(self, tenant_id: UUID, country: str | None) -> list[Call]:
        lines, day = asked_of(self.data["items"], "own_code"), self.data["on_date"]
        return as_market([market_call(tenant_id, lines, clock.now(), day=day, country=country)])
