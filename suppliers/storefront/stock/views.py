"""HTTP of the buyer's reservations, and of what suppliers have in stock for it."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from rest_framework import serializers

from api.operations import Operation
from api.shapes import Selection
from api.sorts import SortBy
from api.views import ApiViewSet
from api.writing import Answer, Command
from core import clock
from core.conditions import TENANT
from core.errors import InvalidFields, VersionConflict
from core.ids import uuid7
from core.pipeline import Call, ReadBack, Statement
from organizations.public import CounterpartyOnly, Party, PartyClosed
from suppliers.agreements.refusals import SelfTrade
from suppliers.inventory.models import RESERVATIONS
from suppliers.inventory.refusals import InsufficientStock, ReservationExpired, ReservationLimit, ReservationNotActive
from suppliers.inventory.reservations.acts import HeldReservation, extend, release
from suppliers.inventory.reservations.filters import HeldReservationFilters
from suppliers.inventory.reservations.representations import ReceivedReservationOut
from suppliers.inventory.reservations.serializers import ExtendIn, ReservationsIn
from suppliers.marketplace.refusals import OfferNotAvailable, OrderQuantityInvalid

from .filters import AvailabilityFilters
from .http import Question
from .representations import AvailabilityOut
from .reserving import SupplierNotQualified, reserve_stock

HELD = HeldReservation(RESERVATIONS, acts=Party.OTHER)
_ENDED = (PartyClosed, CounterpartyOnly, VersionConflict, ReservationExpired, ReservationNotActive)
_SHAPE = ReceivedReservationOut.shape
_MADE = Statement.of(
    "SELECT json_agg(row_to_json(r) ORDER BY t.id)::text FROM suppliers_receivedreservation t"
    f" CROSS JOIN LATERAL (SELECT {_SHAPE.select(Selection()).replace(TENANT, '$1')}) r"
    " WHERE t.tenant_id = $1 AND t.group_id = $2"
)


class ReservationsOut(serializers.Serializer[None]):
    """The reservations of one request, in the order of its items."""

    items = ReceivedReservationOut(many=True)


class BuyerReservationViewSet(ApiViewSet):
    """Stock of suppliers that is reserved for the tenant."""

    family = "procurement"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    serializer_class = ReceivedReservationOut
    filterset_class = HeldReservationFilters
    ordering_fields = (SortBy("created_at", "received_at"), "updated_at")
    operations = {
        "list": Operation(
            "List own reservations",
            "An active one whose `expires_at` is over holds nothing any more. `product_id` and `supplier_id` narrow the list.",
        ),
        "create": Operation(
            "Reserve stock of a supplier",
            "All of it or nothing, from what expires first. Without `packaging_id` and `offer_id` the smallest packaging is "
            "taken that the supplier offers to the tenant. The stock is held for `ttl_seconds`; how long at most, and which "
            "share of a product one buyer may hold so, the supplier settles.",
            body=ReservationsIn,
            answer=ReservationsOut,
            run=reserve_stock,
            errors=(
                SelfTrade, InvalidFields, SupplierNotQualified, PartyClosed, OfferNotAvailable, OrderQuantityInvalid,
                InsufficientStock, ReservationLimit,
            ),
        ),
        "partial_update": Operation(
            "Extend a reservation",
            "It then lasts for `ttl_seconds` from now; at most three times.",
            body=ExtendIn,
            find=HELD,
            run=extend,
            errors=(*_ENDED, ReservationLimit, InvalidFields),
        ),
        "destroy": Operation(
            "Release a reservation",
            "Its stock is free for others at once; the reservation stays in the list as `released`.",
            find=HELD,
            run=release,
            errors=_ENDED,
        ),
    }  # fmt: skip

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Reserve, and answer all reservations of the request."""
        return self.write(self._reserve)

    def _reserve(self, command: Command) -> Answer:
        group_id = uuid7()
        reading = ReadBack(lambda _: Call(_MADE, [str(command.actor.tenant_id), str(group_id)]))
        reserve_stock(command.actor, command.data, command.at, reading, group_id=group_id)
        assert reading.rows is not None
        return Answer(b'{"items":' + (reading.rows.value() or b"[]") + b"}")


class StockAvailabilityViewSet(ApiViewSet):
    """What suppliers have in stock, as each tells it."""

    family = "procurement"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    operation_ids = {"list": "listStockAvailability"}
    operations = {
        "list": Operation(
            "List available stock",
            "One item for each offer that the tenant sees, in the order of product and offer. Numbers are told as the "
            "supplier displays them; `reservations` are the tenant's own active ones. `quantity` and `needed_date` need "
            "`product_id` or `gtin`.",
            items=AvailabilityOut,
            filters=AvailabilityFilters,
            policy="availability",
            errors=(InvalidFields,),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a page of offers with the stock behind them."""
        question = Question(request, clock.now())
        if question.needs_look:
            _, found = self.read(question.looks)
            question.take(found)
        actor, (*_, rows) = self.read(question.calls)
        return question.answer(actor.tenant_id, rows, self.read)
