"""HTTP of the inventory: levels, what moves them, what is reserved of them, and where they lie."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework import serializers

from api.day_counts import DayCounts
from api.filters import conditions
from api.operations import Operation
from api.preconditions import tag_of
from api.shapes import Selection
from api.sorts import ORDERING_FIELDS, SortBy
from api.views import ApiViewSet
from api.writing import Answer, Command
from core.actor import Actor
from core.errors import InvalidFields, InvalidTransition, NotFound, QuotaExceeded, VersionConflict
from core.pipeline import Call, Rows, run
from organizations.public import CounterpartyOnly, LocationForbidden, LocationTooDeep

from .filters import AvailabilityFilters, StockLevelFilters, StockLocationFilters, StockMovementFilters
from .items.offered import Owner, OwnersUnknown, owners_calls, owners_of
from .levels import Level
from .lots import change_lot, locked_lot
from .movements.adjusting import adjust
from .movements.shelving import Spot
from .movements.transferring import transfer
from .placing import put_stock_location
from .queries import WITHIN, needed_call
from .refusals import (
    InsufficientStock,
    LotConflict,
    LotRecalled,
    StaleQuantity,
    StockPlaceCodeTaken,
    StockReserved,
    StorageMismatch,
    WithdrawalNotPermitted,
    WrongSerial,
)
from .representations import (
    LotOut,
    PromisableStockOut,
    StockLevelInFullOut,
    StockLevelOut,
    StockLocationOut,
    StockMovementOut,
)
from .reservations.filters import ReservationFilters
from .reservations.representations import ReservationOut
from .serializers import AdjustmentIn, LotChangeIn, StockLocationIn, TransferIn

_MOVING = (InvalidFields, InsufficientStock, StockReserved, LotRecalled, StorageMismatch, WrongSerial)


class MovedLineOut(serializers.Serializer[None]):
    """One line: by how much a level was changed, and what it holds now; in base units."""

    product_id = serializers.UUIDField()
    location_id = serializers.UUIDField()
    lot_number = serializers.CharField(allow_null=True)
    level_id = serializers.UUIDField()
    quantity = serializers.IntegerField()
    on_hand = serializers.IntegerField()
    reserved = serializers.IntegerField()


class StockChangeOut(serializers.Serializer[None]):
    """An adjustment or a transfer; the list of movements finds its movements by `reference`."""

    id = serializers.UUIDField()
    lines = MovedLineOut(many=True)


def _line(spot: Spot, level: Level, quantity: int) -> dict[str, Any]:
    return {
        "product_id": spot.product.id,
        "location_id": spot.location_id,
        "lot_number": spot.lot_number or None,
        "level_id": level.row.id,
        "quantity": quantity,
        "on_hand": level.on_hand,
        "reserved": level.reserved,
    }


class InventoryViewSet(ApiViewSet):
    """What all of the inventory has in common: any kind of tenant has stock of its own."""

    family = "supplier"
    scope_prefix = "inventory:"


class StockLevelViewSet(InventoryViewSet):
    """Levels of the tenant's stock."""

    serializer_class = StockLevelOut
    filterset_class = StockLevelFilters
    restriction = WITHIN
    operations = {
        "list": Operation(
            "List stock levels",
            "One for each product, location and lot. `sellable` is what can be promised today.",
        ),
        "retrieve": Operation(
            "Get a stock level",
            "With what keeps it from being sold in `holds`, and the active reservations.",
            answer=StockLevelInFullOut,
        ),
    }


class AvailabilityViewSet(InventoryViewSet):
    """What buyers can be promised."""

    serializer_class = PromisableStockOut
    filterset_class = AvailabilityFilters
    ordering_fields = (
        SortBy("supplier_sku", "supplier_sku", "text"), "on_hand", SortBy("sellable", "sellable", "bigint"), "created_at",
        "updated_at",
    )  # fmt: skip
    ordering = "supplier_sku"
    restriction = WITHIN
    operation_ids = {"list": "listAvailability"}
    operations = {
        "list": Operation(
            "List what can be promised",
            "One row for each product and location, over all lots. A lot counts while it lasts for the product's least "
            "remaining shelf life from `needed_date`, which is today at the location where none is given or the date is over.",
        ),
    }

    def read(self, calls: Callable[[UUID], Sequence[Call]]) -> tuple[Actor, list[Rows]]:
        """Settle the date in the trip of the list."""

        def dated(tenant_id: UUID) -> list[Call]:
            found = calls(tenant_id)  # refuses what is no date
            given = dict(conditions(AvailabilityFilters, self.request.GET)).get("needed_date")
            return [needed_call(given.parameters[0] if given else ""), *found]

        actor, rows = super().read(dated)
        return actor, rows[1:]


class LotViewSet(InventoryViewSet):
    """Lots of the tenant's products."""

    serializer_class = LotOut
    operations = {
        "partial_update": Operation(
            "Hold, release, recall or correct a lot",
            "A lot in quarantine may not be sold: what is reserved of it is broken at once, and its buyers are told. Of a "
            "recalled lot nothing can be sold either; the buyers concerned are told within seconds, one after the other, "
            "and `recall.progress` says how far that is and what they have answered. Only the role supplier_admin "
            "withdraws a recall, by the status quarantined. A correction of the expiry date holds for all levels of the lot. "
            "A buyer holds back and releases its own lots, unless their origin is recalled; only the supplier recalls.",
            body=LotChangeIn,
            find=locked_lot,
            run=change_lot,
            errors=(
                InvalidFields,
                VersionConflict,
                InvalidTransition,
                LotRecalled,
                WithdrawalNotPermitted,
                CounterpartyOnly,
            ),
        ),
    }


class StockMovementViewSet(InventoryViewSet):
    """The ledger of what moved stock; nothing in it is ever changed."""

    serializer_class = StockMovementOut
    filterset_class = StockMovementFilters
    ordering_fields = (SortBy("at", "created_at"), "created_at")
    ordering = "-at"
    restriction = WITHIN
    day_counts = DayCounts(
        table="suppliers_movementcounter",
        counted="movements",
        hours="hours",
        column="created_at",
        reach=WITHIN,
        whole=WITHIN.whole,
    )
    operations = {
        "list": Operation(
            "List stock movements",
            "The newest first. `from` is inclusive, `to` exclusive; a plain date is its start in the tenant's time zone.",
        ),
    }


class AdjustmentViewSet(InventoryViewSet):
    """Adjustments of stock."""

    operation_ids = {"create": "adjustStock"}
    operations = {
        "create": Operation(
            "Adjust stock",
            "Receive, count, correct or write off, all lines or none. Lines of one level are summed. A count (`set`) says "
            "which quantity it expected; below what is reserved it is refused, unless the line breaks reservations: the "
            "newest soft ones first, then hard ones. Products with serial numbers have one for each unit; a count names all that "
            "are there.",
            body=AdjustmentIn,
            answer=StockChangeOut,
            run=adjust,
            errors=(*_MOVING, StaleQuantity, LotConflict),
        ),
    }

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Adjust, and answer what was changed.

        A buyer's first receipt of a product does not say whose it is. The market is asked, in a transaction that writes
        nothing, and the write begins anew.
        """
        try:
            return self.write(self._adjust)
        except OwnersUnknown as unknown:
            asked = unknown
        _, found = self.read(lambda tenant_id: owners_calls(tenant_id, asked))
        return self.write(partial(self._adjust, owners=owners_of(found[-1])))

    def _adjust(self, command: Command, owners: Sequence[Owner] | None = None) -> Answer:
        done = adjust(command.actor, command.data, command.at, owners=owners)
        return Answer.of({"id": done.id, "lines": [_line(*line) for line in done.lines]})


class TransferViewSet(InventoryViewSet):
    """Transfers between the tenant's stock locations."""

    operation_ids = {"create": "transferStock"}
    operations = {
        "create": Operation(
            "Transfer stock",
            "From one stock location to another, lot by lot, all lines or none; reserved goods stay where they are. A recalled lot "
            "is set apart so: it moves to a location that is not sellable, and to no other.",
            body=TransferIn,
            answer=StockChangeOut,
            run=transfer,
            errors=_MOVING,
        ),
    }

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Transfer, and answer both ends of each line."""
        return self.write(self._transfer)

    def _transfer(self, command: Command) -> Answer:
        done = transfer(command.actor, command.data, command.at)
        ends = (
            (spot, signed)
            for out, into, quantity in done.lines
            for spot, signed in ((out, -quantity), (into, quantity))
        )
        lines = [_line(spot, done.shelves.spots[spot.key], signed) for spot, signed in ends]
        return Answer.of({"id": done.id, "lines": lines})


class StockLocationViewSet(InventoryViewSet):
    """Locations that keep stock."""

    serializer_class = StockLocationOut
    filterset_class = StockLocationFilters
    ordering_fields = (*ORDERING_FIELDS, "code")
    restriction = WITHIN
    operation_ids = {"create": "putStockLocation"}
    operations = {
        "list": Operation("List stock locations"),
        "create": Operation(
            "Put a stock location",
            "Makes a new place, or with `location_id` keeps stock at a place that exists. If it keeps stock already, what "
            "was settled of it is replaced, and the answer is 200.",
            body=StockLocationIn,
            further_statuses=(200,),
            run=put_stock_location,
            errors=(
                InvalidFields, StockPlaceCodeTaken, NotFound, LocationForbidden, LocationTooDeep, QuotaExceeded, VersionConflict,
            ),
        ),
    }  # fmt: skip

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Put the stock location, and answer it."""
        return self.write(self._put)

    def _put(self, command: Command) -> Answer:
        row, is_new = put_stock_location(command.actor, command.data, command.at, command.check_found)
        assert command.reading is not None
        content, version = run([command.reading.call(row.location_id)])[0].row()
        tag = tag_of(StockLocationOut.shape, Selection(), content, version)
        return Answer(content or b"null", status=201 if is_new else 200, tag=tag)


class InventoryReservationViewSet(InventoryViewSet):
    """Reservations on the tenant's own stock."""

    serializer_class = ReservationOut
    filterset_class = ReservationFilters
    restriction = WITHIN
    operation_ids = {"list": "listStockReservations"}
    operations = {
        "list": Operation(
            "List reservations on own stock",
            "With the levels and lots that each holds. An active one whose `expires_at` is over holds nothing any more. A "
            "membership that is limited to places sees what lies there as a whole.",
        ),
    }
