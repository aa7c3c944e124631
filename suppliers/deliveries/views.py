"""HTTP of shipments for their suppliers, and of deliveries for both parties."""

from functools import lru_cache
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import line_pages, preconditions
from api.filters import check_names
from api.operations import Operation
from api.page_numbers import InvalidPage
from api.shapes import Selection, select
from api.sorts import ORDERING_FIELDS, SortBy
from api.two_sides import TwoSidedViewSet
from api.views import ApiViewSet
from core.conditions import TENANT
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Statement
from organizations.public import CounterpartyOnly, PartyClosed
from suppliers.inventory.queries import WITHIN
from suppliers.inventory.refusals import InsufficientStock, LotConflict, WrongSerial
from suppliers.orders.finding_received import RECEIVED
from suppliers.orders.shapes import EMBEDDED

from .changing import change
from .exceptions import report_exception
from .filters import DISPATCHED, DeliveryFilters
from .finding import SHIPMENT
from .finding_delivery import DELIVERED_TO
from .reading.representations import DeliveryOut, DeliveryWithLinesOut, ShipmentOut
from .reading.shapes import ROWS, page_sql
from .refusals import LotNotShippable, OverShipment
from .serializers import BODY_BYTES, DeliveryExceptionIn, ShipmentChangeIn, ShipmentIn
from .shipping import ship
from .states import OF_DRAFT

_READ: Final = "orders:read"
_SHAPE: Final = DeliveryWithLinesOut.shape
_STOCK: Final = (OverShipment, LotNotShippable, LotConflict, WrongSerial, InsufficientStock)


class ShipmentViewSet(ApiViewSet):
    """The shipments of an order, made by its supplier."""

    family = "supplier"
    tag = "Orders"
    scope_prefix = "orders:"
    tenant_kind = "supplier"
    serializer_class = ShipmentOut
    operation_ids: ClassVar = {"create": "createShipment", "partial_update": "updateShipment"}
    operations: ClassVar[dict[str, Operation]] = {
        "create": Operation(
            "Ship lines of an order",
            "With `dispatched_at` the shipment leaves at once: its goods leave the stock, what is allocated to the order is "
            "used up, and it becomes a delivery of the buyer, with `Location`. Without, it is in preparation, and only the "
            "supplier sees it. Lines that name no lot take the allocated ones, what expires first at first, then what is "
            "free; a line of several lots becomes several lines.",
            body=ShipmentIn,
            body_limit=BODY_BYTES,
            find=RECEIVED,
            run=ship,
            errors=(*_STOCK, InvalidTransition, VersionConflict, InvalidFields, CounterpartyOnly, PartyClosed),
        ),
        "partial_update": Operation(
            "Update a shipment",
            "In preparation everything changes, and lines are replaced. `status` is what it is to become: `in_transit` lets "
            "it leave, `cancelled` ends it before; a delivery becomes `delivered` by the carrier's evidence, or `lost`. "
            "`exception` reports what went wrong under way, without a `status`.",
            body=ShipmentChangeIn,
            body_limit=BODY_BYTES,
            partial=True,
            find=SHIPMENT,
            run=change,
            errors=(*_STOCK, InvalidTransition, VersionConflict, InvalidFields, PartyClosed),
        ),
    }

    def location(self, key: object, status: int) -> str:
        """Return where a delivery is read; a shipment in preparation is read with its order."""
        return ""

    def _answer_write(self, result: Any, *args: Any, **more: Any) -> HttpResponse:
        response = super()._answer_write(result, *args, **more)
        if response.status_code == 201 and result.status not in OF_DRAFT:
            response["Location"] = f"/v1/procurement/deliveries/{result.pk}"
        return response


@lru_cache(maxsize=256)
def _one(selection: Selection) -> str:
    """The SQL of one delivery: JSON, version, and the side of the tenant in it; $1 the tenant, $2 the delivery."""
    return (
        f"SELECT row_to_json(r)::text, t.version::text, t.side FROM {ROWS.built} t"
        f" CROSS JOIN LATERAL (SELECT {_SHAPE.select(selection)}) r"
        f" WHERE t.tenant_id = $1 AND t.id = $2 AND t.number <> '' AND {WITHIN.sql}".replace(TENANT, "$1")
    )


@lru_cache(maxsize=1)
def _lines_page() -> Statement:
    """The statement of a page of lines: $1 the tenant, $2 the delivery, $3 the first number of the page, $4 the limit."""
    return Statement.of(page_sql("$3::int", "$4::int").replace(TENANT, "$1"))


class DeliveryViewSet(TwoSidedViewSet):
    """Deliveries of the tenant, as their buyer or as their supplier."""

    family = "procurement"
    tag = "Deliveries"
    scope_prefix = "procurement."
    buyer_feature = "procurement"
    serializer_class = DeliveryOut
    filterset_class = DeliveryFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("delivery_number", "number"))
    restriction = WITHIN
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List deliveries",
            "Shipments that have left, without their lines. A member with locations sees, as a buyer, what goes there or "
            "below, and as a supplier what left from there.",
            supplier_scope=_READ,
            errors=(InvalidFields,),
        ),
        "retrieve": Operation(
            "Get a delivery",
            "With at most 100 of its lines; `lines_page` reads the rest.",
            answer=DeliveryWithLinesOut,
            supplier_scope=_READ,
            parameters=line_pages.parameters(EMBEDDED),
            errors=(InvalidPage,),
        ),
        "report_exception": Operation(
            "Report an exception of a delivery",
            "A record beside the delivery's state. `lost` makes the delivery lost from 30 days after it had left; before that "
            "it is recorded only. `suspect` quarantines the buyer's own lots of the goods, and alerts both parties.",
            scope="procurement.receive",
            body=DeliveryExceptionIn,
            answer=DeliveryWithLinesOut,
            status=201,
            find=DELIVERED_TO,
            run=report_exception,
            errors=(InvalidTransition, VersionConflict, InvalidFields, CounterpartyOnly, PartyClosed),
        ),
    }

    def list(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer the list, without what has not left."""
        return self.list_page(DISPATCHED)

    @action(detail=True, methods=["post"], url_path="exceptions")
    def report_exception(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Record what the buyer reports."""
        return self.write()

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one delivery with a page of its lines."""
        key, asked = str(kwargs[self.lookup_url_kwarg]), dict[str, Any]()

        def calls(tenant_id: Any) -> list[Call]:
            query = request.GET
            check_names(query, ("fields", "include", *line_pages.NAMES))
            asked["chosen"] = chosen = select(_SHAPE, query.get("fields"), query.get("include"))
            asked["page"] = page = line_pages.asked_lines(query, EMBEDDED)
            one = Call(Statement.composed(_one(chosen)), [str(tenant_id), key])
            return [one, *([Call(_lines_page(), [str(tenant_id), key, *page.bounds])] if page else [])]

        actor, (rows, *lines) = self.read(calls)
        if not len(rows):
            raise NotFound("No such delivery.")
        content, version, side = rows.row()
        self.check_place(actor, (side or b"").decode())
        chosen, page = asked["chosen"], asked["page"]
        if page:
            content = page.put_into(content or b"{}", lines[0].value() or b"[]", f"/v1/procurement/deliveries/{key}")
            chosen = page.selection(chosen)
        return self.answer(content or b"null", tag=preconditions.tag_of(_SHAPE, chosen, content, version))
