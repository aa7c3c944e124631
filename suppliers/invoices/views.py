"""HTTP of invoices: issued by suppliers for an order, and read and answered at one address by both parties."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import line_pages, preconditions
from api.filters import check_names
from api.operations import Operation
from api.page_numbers import InvalidPage
from api.shapes import Selection, Shape, select
from api.sorts import ORDERING_FIELDS, SortBy
from api.two_sides import TwoSidedViewSet
from api.views import ApiViewSet
from core.conditions import TENANT
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Statement
from organizations.public import CounterpartyOnly, PartyClosed
from suppliers.orders.shapes import EMBEDDED
from suppliers.orders.states import Party

from .acting import approve, cancel, dispute, match_again, reject
from .filters import InvoiceFilters
from .finding import OF_BUYER, OF_SUPPLIER, TO_BILL, BilledInvoice
from .issuing import issue, record
from .reading.representations import InvoiceOut, InvoiceWithLinesOut, IssuedInvoiceOut
from .reading.shapes import ROWS, SEEN, page_sql
from .refusals import (
    CreditExceedsInvoice,
    InvoiceNumberTaken,
    InvoicesBlocked,
    OverInvoiced,
    SeparationOfDuties,
)
from .serializers import (
    BODY_BYTES,
    ApproveInvoiceIn,
    DisputeInvoiceIn,
    InvoiceIn,
    ReasonIn,
    RecordedInvoiceIn,
)

_READ: Final = "orders:read"
_MEMBERS: Final = "procurement.invoices"
_SHAPE: Final = InvoiceWithLinesOut.shape
_ISSUED: Final = replace(IssuedInvoiceOut.shape, rows=ROWS.of_side(Party.SUPPLIER.value))
_ISSUING: Final = (
    InvoiceNumberTaken,
    OverInvoiced,
    CreditExceedsInvoice,
    InvalidTransition,
    InvalidFields,
    CounterpartyOnly,
)
_ACTING: Final = (InvalidTransition, VersionConflict, CounterpartyOnly, PartyClosed)


class OrderInvoiceViewSet(ApiViewSet):
    """The invoices of an order, issued by its supplier."""

    family = "supplier"
    tag = "Orders"
    scope_prefix = "orders:"
    tenant_kind = "supplier"
    serializer_class = IssuedInvoiceOut
    operation_ids: ClassVar = {"create": "issueInvoice"}
    operations: ClassVar[dict[str, Operation]] = {
        "create": Operation(
            "Issue an invoice or credit note",
            "For what was shipped of goods, and what is ordered of services; a prepayment for what is ordered. It is matched at "
            "once against the order and the receipts. A credit note takes units off its invoice where its unit price is the "
            "invoiced one, else a part of their price; it ends a dispute.",
            body=InvoiceIn,
            body_limit=BODY_BYTES,
            find=TO_BILL,
            run=issue,
            errors=(*_ISSUING, VersionConflict, PartyClosed),
        ),
    }

    def read_back_shape(self) -> Shape:
        """Return the shape over the supplier's copies: nobody else issues here."""
        return _ISSUED

    def location(self, key: object, status: int) -> str:
        """Return where the invoice is read."""
        return f"/v1/procurement/invoices/{key}"


@lru_cache(maxsize=256)
def _one(selection: Selection) -> str:
    """The SQL of one invoice: JSON, version, and the side of the tenant in it; $1 the tenant, $2 the invoice."""
    return (
        f"SELECT row_to_json(r)::text, t.version::text, t.side FROM {ROWS.built} t"
        f" CROSS JOIN LATERAL (SELECT {_SHAPE.select(selection)}) r WHERE t.tenant_id = $1 AND t.id = $2 AND {SEEN.sql}".replace(
            TENANT, "$1"
        )
    )


@lru_cache(maxsize=1)
def _lines_page() -> Statement:
    """The statement of a page of lines: $1 the tenant, $2 the invoice, $3 the first number of the page, $4 the limit."""
    return Statement.of(page_sql("$3::int", "$4::int").replace(TENANT, "$1"))


class InvoiceViewSet(TwoSidedViewSet):
    """Invoices and credit notes of the tenant, as their buyer or as their supplier."""

    family = "procurement"
    tag = "Invoices"
    scope_prefix = "procurement."
    buyer_feature = "procurement"
    serializer_class = InvoiceOut
    filterset_class = InvoiceFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("invoice_number", "number"), "issue_date")
    restriction = SEEN
    operation_ids: ClassVar = {"create": "recordInvoice", "match_again": "matchInvoice"}
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List invoices",
            "Without their lines. A member of a buyer with locations sees what was ordered for there or below.",
            supplier_scope=_READ,
            errors=(InvalidFields,),
        ),
        "create": Operation(
            "Record an invoice of a managed supplier",
            "A supplier on the platform issues its invoices itself: 403 `counterparty_only`. Whoever records it does not approve it.",
            scope=_MEMBERS,
            kind="buyer",
            feature="procurement",
            body=RecordedInvoiceIn,
            body_limit=BODY_BYTES,
            answer=InvoiceWithLinesOut,
            run=record,
            errors=_ISSUING,
        ),
        "retrieve": Operation(
            "Get an invoice",
            "With the match result of each line, and at most 100 of its lines; `lines_page` reads the rest.",
            answer=InvoiceWithLinesOut,
            supplier_scope=_READ,
            parameters=line_pages.parameters(EMBEDDED),
            errors=(InvalidPage,),
        ),
        "match_again": Operation(
            "Match an invoice again",
            "It is matched by itself at every receipt, reversal and credit; this looks with the policies of now.",
            scope=_MEMBERS, answer=InvoiceWithLinesOut, find=OF_BUYER, run=match_again, errors=_ACTING,
        ),
        "approve": Operation(
            "Approve an invoice",
            "Releases it for payment. One that does not match needs `override_reason`.",
            scope="procurement.invoices.approve", body=ApproveInvoiceIn, answer=InvoiceWithLinesOut, find=OF_BUYER,
            run=approve, errors=(*_ACTING, SeparationOfDuties, InvalidFields, InvoicesBlocked),
        ),
        "dispute": Operation(
            "Dispute an invoice",
            "Puts it under query, while nothing of it is held or paid. A credit note of the supplier ends the dispute, or "
            "`withdraw`; the invoice is matched again then.",
            scope=_MEMBERS, body=DisputeInvoiceIn, answer=InvoiceWithLinesOut, find=OF_BUYER, run=dispute, errors=_ACTING,
        ),
        "reject": Operation(
            "Reject an invoice",
            "For good; the supplier may invoice the same anew, under another number.",
            scope=_MEMBERS, body=ReasonIn, answer=InvoiceWithLinesOut, find=OF_BUYER, run=reject, errors=_ACTING,
        ),
        "cancel": Operation(
            "Cancel an invoice",
            "Its supplier withdraws it, before it is released.",
            scope="orders:write", supplier_scope="orders:write", body=ReasonIn, answer=InvoiceWithLinesOut,
            find=OF_SUPPLIER, run=cancel, errors=_ACTING,
        ),
    }  # fmt: skip

    def side_of(self, target: BilledInvoice) -> str:
        """Return the caller's side."""
        return (Party.BUYER if target.shared.is_owner else Party.SUPPLIER).value

    @action(detail=True, methods=["post"], url_path="match")
    def match_again(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Match an invoice again."""
        return self.write()

    @action(detail=True, methods=["post"])
    def approve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Release an invoice for payment."""
        return self.write()

    @action(detail=True, methods=["post"])
    def dispute(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Put an invoice under query, or end that."""
        return self.write()

    @action(detail=True, methods=["post"])
    def reject(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Refuse an invoice for good."""
        return self.write()

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Withdraw an invoice."""
        return self.write()

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one invoice with a page of its lines."""
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
            raise NotFound("No such invoice.")
        content, version, side = rows.row()
        self.check_place(actor, (side or b"").decode())
        chosen, page = asked["chosen"], asked["page"]
        if page:
            content = page.put_into(content or b"{}", lines[0].value() or b"[]", f"/v1/procurement/invoices/{key}")
            chosen = page.selection(chosen)
        return self.answer(content or b"null", tag=preconditions.tag_of(_SHAPE, chosen, content, version))
