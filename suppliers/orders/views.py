"""HTTP of orders for their suppliers."""

from functools import lru_cache
from typing import Any, ClassVar
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.filters import check_names
from api.list_responses import asked_page, page_answer
from api.operations import Operation
from api.page_numbers import InvalidPage
from api.sorts import SortBy
from api.views import ApiViewSet
from core.conditions import TENANT
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Rows, Statement
from organizations.public import CounterpartyOnly, PartyClosed
from suppliers.inventory.refusals import InsufficientStock

from .accepting import accept_order
from .changes.remaining import respond_to_item
from .changes.serializers import ItemResponseIn
from .filters import ReceivedOrderFilters
from .peeks import ReceivedPeeked
from .refusals import AlreadyShipped, RevisionChanged, SubstitutionNotAllowed
from .rejecting import reject_order
from .representations import OrderItemOut, ReceivedOrderOut, ReceivedOrderWithItemsOut
from .serializers import AcceptOrderIn, RejectOrderIn
from .shapes import received_lines_sql


@lru_cache(maxsize=1)
def _items() -> Statement:
    """The statement of a page of items: their number, and each as JSON; $1 the tenant, $2 the order, $3 the first, $4 how many."""
    page = received_lines_sql("e.number >= $3::int AND e.number < $3::int + $4::int").replace(TENANT, "$1")
    return Statement.of(
        f"SELECT jsonb_array_length(t.lines)::text, ({page})::text FROM suppliers_receivedorder t"
        " WHERE t.tenant_id = $1 AND t.id = $2"
    )


class ReceivedOrderViewSet(ApiViewSet):
    """The orders that a supplier has received."""

    family = "supplier"
    tag = "Orders"
    scope_prefix = "orders:"
    tenant_kind = "supplier"
    serializer_class = ReceivedOrderOut
    filterset_class = ReceivedOrderFilters
    count_sql = "SELECT c.orders FROM suppliers_receivedordercounter c WHERE c.tenant_id = $1"
    ordering_fields = (SortBy("created_at", "received_at"), "updated_at", SortBy("order_number", "number"))
    operation_ids: ClassVar = {
        "list": "listOrders",
        "retrieve": "getOrder",
        "list_items": "listOrderItems",
        "accept": "acceptOrder",
        "reject": "rejectOrder",
        "update_item": "updateOrderItem",
    }
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List orders",
            "Orders addressed to this supplier, without their items. `from` and `to` are about when they were sent; "
            "`product_id` keeps those with a line of the product.",
            errors=(InvalidFields,),
        ),
        "retrieve": Operation(
            "Get an order",
            "With at most 100 of its items, each with what is allocated to it and how its price came about, and the newest "
            "entries of its timeline. A member with locations sees the shipments and deliveries that leave from there.",
            answer=ReceivedOrderWithItemsOut,
        ),
        "list_items": Operation(
            "List the items of an order",
            "In the order of their numbers, with counters in base units.",
            items=OrderItemOut,
            errors=(InvalidPage, NotFound),
        ),
        "accept": Operation(
            "Accept an order",
            "All of it, or with other `lines`, which the buyer has to confirm: lines that are not named stay as they were ordered. Lines of a "
            "new order with their whole quantities and the days that were asked for change nothing, and accept all of it. With a "
            "`decision` it answers the change that the buyer has proposed. Stock is allocated to each line: what the order has reserved first, then what expires first and lasts for "
            "`min_remaining_shelf_life_days` of the order, else of the agreement, else of the offer, else of the product. Where too little is free, nothing is accepted, unless `allow_partial` is true "
            "and the buyer takes backorders: then the rest is `backordered`, and is allocated when stock comes. Services and "
            "what is made to order need no stock.",
            body=AcceptOrderIn,
            answer=ReceivedOrderWithItemsOut,
            find=ReceivedPeeked(),
            run=accept_order,
            errors=(
                InvalidFields,
                SubstitutionNotAllowed,
                PartyClosed,
                CounterpartyOnly,
                VersionConflict,
                InvalidTransition,
                RevisionChanged,
                InsufficientStock,
            ),
        ),
        "update_item": Operation(
            "Answer an item of an order",
            "Before the order is accepted, the answer becomes part of a proposed change, which the buyer confirms: what is not "
            "accepted, backordered or replaced is cancelled then. Of an accepted order, the promised date moves, and the rest that is "
            "not shipped is backordered or cancelled, at once. Each answer is a revision.",
            body=ItemResponseIn,
            answer=ReceivedOrderWithItemsOut,
            find=ReceivedPeeked(),
            run=respond_to_item,
            errors=(
                PartyClosed,
                CounterpartyOnly,
                VersionConflict,
                InvalidTransition,
                InvalidFields,
                InsufficientStock,
                SubstitutionNotAllowed,
                AlreadyShipped,
            ),
        ),
        "reject": Operation(
            "Reject an order",
            "One that was never accepted. The buyer's budget, agreements and promotions, and what is reserved for the order, "
            "are given back.",
            body=RejectOrderIn,
            answer=ReceivedOrderWithItemsOut,
            find=ReceivedPeeked(),
            run=reject_order,
            errors=(PartyClosed, CounterpartyOnly, VersionConflict, InvalidTransition),
        ),
    }

    @action(detail=True, methods=["post"])
    def reject(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Reject an order."""
        return self.write()

    @action(detail=True, methods=["patch"], url_path="items/<uuid:item_id>")
    def update_item(self, request: HttpRequest, pk: UUID, item_id: UUID) -> HttpResponse:
        """Answer one line of an order."""
        return self.write()

    @action(detail=True, methods=["post"])
    def accept(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Accept an order."""
        return self.write()

    @action(detail=True, methods=["get"], url_path="items")
    def list_items(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer a page of items."""
        asked: dict[str, int] = {}

        def calls(tenant_id: UUID) -> list[Call]:
            check_names(request.GET, ("page", "limit"))
            asked.update(asked_page(request.GET))
            first = (asked["page"] - 1) * asked["limit"] + 1
            return [Call(_items(), [str(tenant_id), str(pk), str(first), str(asked["limit"])])]

        _, (rows,) = self.read(calls)
        if not len(rows):
            raise NotFound("No such order.")
        return page_answer(request, _Items(rows), **asked)  # type: ignore[arg-type]  # rows that are read from one value


class _Items:
    """The items of one value as the rows of a page, each with the total."""

    def __init__(self, rows: Rows) -> None:
        total, items = rows.row()
        self.total = total
        self.items = [orjson.dumps(one) for one in orjson.loads(items or b"[]")]

    def __len__(self) -> int:
        return max(1, len(self.items))

    def value(self, row: int = 0, column: int = 0) -> Any:
        """Return the total, or an item; None where the page is empty."""
        if column == 0:
            return self.total
        return self.items[row] if row < len(self.items) else None
