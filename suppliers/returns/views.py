"""HTTP of returns, for both parties."""

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
from core.conditions import TENANT
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Statement
from organizations.public import CounterpartyOnly, PartyClosed, reach
from suppliers.inventory.refusals import InsufficientStock, LotRecalled, StorageMismatch, WrongSerial
from suppliers.invoices.refusals import CreditExceedsInvoice, InvoiceNumberTaken
from suppliers.orders.shapes import EMBEDDED

from .deciding import authorize, cancel_return
from .filters import ReturnFilters
from .finding import OF_BUYER, OF_SUPPLIER, Returned
from .inspecting import inspect
from .reading.representations import ReturnOut, ReturnWithLinesOut
from .reading.shapes import ROWS, page_sql
from .receiving import receive_return
from .refusals import DispositionNotAllowed, ReturnExceedsReceived, ReturnWindowClosed, WitnessRequired
from .requesting import request_return
from .serializers import BODY_BYTES, AuthorizeIn, GoodsReturnIn, ReturnInspectIn, ReturnReceiveIn, ReturnShipIn
from .shipping import ship_return
from .telling import BUYER, SUPPLIER

_READ: Final = "orders:read"
_WRITE: Final = "orders:write"
_SHAPE: Final = ReturnWithLinesOut.shape
_ALL: Final[tuple[Any, ...]] = (InvalidTransition, VersionConflict, InvalidFields, CounterpartyOnly, PartyClosed)
# Of a buyer's members who are limited to places, by where was delivered; every member of the supplier sees all its returns.
WITHIN: Final = reach("delivery_location_id", below=True, null=True)


@lru_cache(maxsize=256)
def _one(selection: Selection) -> str:
    """The SQL of one return: JSON, version, and the side of the tenant in it; $1 the tenant, $2 the return."""
    return (
        f"SELECT row_to_json(r)::text, t.version::text, t.side FROM {ROWS.built} t"
        f" CROSS JOIN LATERAL (SELECT {_SHAPE.select(selection)}) r WHERE t.tenant_id = $1 AND t.id = $2 AND {WITHIN.sql}".replace(
            TENANT, "$1"
        )
    )


@lru_cache(maxsize=1)
def _lines_page() -> Statement:
    """The statement of a page of lines: $1 the tenant, $2 the return, $3 the first number of the page, $4 the limit."""
    return Statement.of(page_sql("$3::int", "$4::int").replace(TENANT, "$1"))


class ReturnViewSet(TwoSidedViewSet):
    """Returns of the tenant, as their buyer or as their supplier."""

    family = "procurement"
    tag = "Returns"
    scope_prefix = "procurement."
    buyer_feature = "procurement"
    serializer_class = ReturnOut
    filterset_class = ReturnFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("return_number", "number"))
    restriction = WITHIN
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List returns",
            "Without their lines. A member of the buyer with locations sees what was delivered there or below.",
            supplier_scope=_READ,
            errors=(InvalidFields,),
        ),
        "create": Operation(
            "Request a return",
            "Goods of one delivery go back, at most what was received and is on no other return, within the supplier's "
            "`return_window_days` after the last receipt of the line. A recall has no limit and is authorized at once; so is "
            "what goes to a managed supplier.",
            scope="procurement.write",
            kind="buyer",
            feature="procurement",
            body=GoodsReturnIn,
            body_limit=BODY_BYTES,
            answer=ReturnWithLinesOut,
            run=request_return,
            errors=(ReturnExceedsReceived, ReturnWindowClosed, WrongSerial, InvalidFields, PartyClosed),
        ),
        "retrieve": Operation(
            "Get a return",
            "With at most 100 of its lines; `lines_page` reads the rest.",
            answer=ReturnWithLinesOut,
            supplier_scope=_READ,
            parameters=line_pages.parameters(EMBEDDED),
            errors=(InvalidPage,),
        ),
        "authorize": Operation(
            "Authorize or decline a return",
            "The supplier's decision. What is declined can be on another return.",
            scope=_WRITE,
            supplier_scope=_WRITE,
            body=AuthorizeIn,
            answer=ReturnWithLinesOut,
            find=OF_SUPPLIER,
            run=authorize,
            errors=_ALL,
        ),
        "ship": Operation(
            "Ship a return",
            "The buyer hands the goods over. They leave its stock, where they came to stock: what is set apart at first, then "
            "what lies where it was delivered.",
            scope="procurement.write",
            body=ReturnShipIn,
            answer=ReturnWithLinesOut,
            find=OF_BUYER,
            run=ship_return,
            errors=(*_ALL, ReturnWindowClosed, InsufficientStock, WrongSerial),
        ),
        "receive": Operation(
            "Receive a return",
            "The supplier records what has come back. The goods are set apart in its stock.",
            scope=_WRITE,
            supplier_scope=_WRITE,
            body=ReturnReceiveIn,
            body_limit=BODY_BYTES,
            answer=ReturnWithLinesOut,
            find=OF_SUPPLIER,
            run=receive_return,
            errors=(*_ALL, WrongSerial),
        ),
        "inspect": Operation(
            "Inspect a return",
            "Every line gets a disposition for all its goods, in one entry or several; stock moves, and the return is "
            "completed. What is invoiced is credited, at the invoiced prices, by a credit note with that number. A replacement or a repair makes an order at price 0, which is accepted. Inspected again, goods in "
            "quarantine move on.",
            scope=_WRITE,
            supplier_scope=_WRITE,
            body=ReturnInspectIn,
            body_limit=BODY_BYTES,
            answer=ReturnWithLinesOut,
            find=OF_SUPPLIER,
            run=inspect,
            errors=(
                *_ALL, DispositionNotAllowed, WitnessRequired, InsufficientStock, StorageMismatch, LotRecalled, WrongSerial,
                InvoiceNumberTaken, CreditExceedsInvoice,
            ),
        ),
        "cancel": Operation(
            "Cancel a return",
            "The buyer withdraws it before it is shipped; its goods can be on another return.",
            scope="procurement.write",
            answer=ReturnWithLinesOut,
            find=OF_BUYER,
            run=cancel_return,
            errors=_ALL,
        ),
    }  # fmt: skip

    def side_of(self, target: Returned) -> str:
        """Return the caller's side."""
        return BUYER if target.shared.is_owner else SUPPLIER

    @action(detail=True, methods=["post"])
    def authorize(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Authorize or decline it."""
        return self.write()

    @action(detail=True, methods=["post"])
    def ship(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Hand the goods over."""
        return self.write()

    @action(detail=True, methods=["post"])
    def receive(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Record what has come back."""
        return self.write()

    @action(detail=True, methods=["post"])
    def inspect(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Say what becomes of the goods."""
        return self.write()

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Withdraw it."""
        return self.write()

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one return with a page of its lines."""
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
            raise NotFound("No such return.")
        content, version, side = rows.row()
        self.check_place(actor, (side or b"").decode())
        chosen, page = asked["chosen"], asked["page"]
        if page:
            content = page.put_into(content or b"{}", lines[0].value() or b"[]", f"/v1/procurement/returns/{key}")
            chosen = page.selection(chosen)
        return self.answer(content or b"null", tag=preconditions.tag_of(_SHAPE, chosen, content, version))
