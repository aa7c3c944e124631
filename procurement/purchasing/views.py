"""HTTP of purchase orders."""

from functools import lru_cache
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import line_pages, preconditions
from api.filters import check_names
from api.listing import one_call
from api.operations import Operation
from api.page_numbers import InvalidPage
from api.permissions import InsufficientScope
from api.shapes import Selection, select
from api.sorts import ORDERING_FIELDS, SortBy
from api.views import ApiViewSet
from core.conditions import TENANT, all_of
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Statement
from organizations.public import CounterpartyOnly, Party, PartyClosed
from procurement.approvals.delegations import READ, SCOPE
from procurement.approvals.refusals import AlreadyDecided, SeparationOfDuties
from procurement.budgets.refusals import BudgetExceeded, CurrencyMismatch
from suppliers.public import (
    EMBEDDED,
    ORDER_MEDIA,
    ORDERS,
    AgreementExhausted,
    AllocationExceeded,
    AlreadyShipped,
    CancellationNotAllowed,
    DocumentIncomplete,
    InsufficientStock,
    LicenseMissing,
    NotOnFormulary,
    OfferNotAvailable,
    OpenDelivery,
    OpenInvoice,
    OrderQuantityInvalid,
    PriceChanged,
    PriceNotAvailable,
    PromotionExhausted,
    RelationshipBlocked,
    ReservationNotActive,
    RevisionChanged,
    SelfTrade,
    SpendLimitExceeded,
    SupplierNotQualified,
    own_order_document,
)

from .approving import approve_order
from .cancelling import cancel_order, close_order
from .confirming import confirm_changes
from .deciding import OrderToDecide
from .drafts import create_order, update_order
from .filters import PurchaseOrderFilters
from .finding import WITHIN, OwnOrder
from .peeking import PeekedOrder
from .proposing import propose_changes
from .rejecting import reject_order
from .representations import LINE, PurchaseOrderOut, PurchaseOrderWithLinesOut
from .serializers import (
    ApproveOrderIn,
    CancelOrderIn,
    CloseOrderIn,
    ConfirmChangesIn,
    ProposeChangesIn,
    PurchaseOrderChangeIn,
    PurchaseOrderIn,
    RejectApprovalIn,
    SubmitOrderIn,
)
from .submitting import submit_order

_SHAPE: Final = PurchaseOrderWithLinesOut.shape
_OWN: Final = OwnOrder(ORDERS, acts=Party.OWNER)
_PEEKED: Final = PeekedOrder()
_LIMITS: Final = (
    SupplierNotQualified, RelationshipBlocked, SpendLimitExceeded, NotOnFormulary, OfferNotAvailable, PriceChanged,
    OrderQuantityInvalid, LicenseMissing, BudgetExceeded, PromotionExhausted, AllocationExceeded, ReservationNotActive,
    InsufficientStock,
)  # fmt: skip
_LIMITS_OF_CHANGES: Final = (
    SupplierNotQualified, RelationshipBlocked, SpendLimitExceeded, NotOnFormulary, LicenseMissing, BudgetExceeded,
    AgreementExhausted, PromotionExhausted, AllocationExceeded,
)  # fmt: skip
_PRICED_CHANGES: Final = (InvalidFields, PriceNotAvailable)
_PRICED: Final = (InvalidFields, SelfTrade, CurrencyMismatch, PriceNotAvailable, AgreementExhausted)
# The second for delegates; which of them may decide is judged with the order.
_APPROVERS: Final = (SCOPE, READ)
_DECIDED: Final = (
    InvalidTransition, RevisionChanged, AlreadyDecided, SeparationOfDuties, VersionConflict, CounterpartyOnly, PartyClosed,
)  # fmt: skip


def _no_approver() -> InsufficientScope:
    challenge = f'Bearer error="insufficient_scope", scope="{SCOPE}"'
    return InsufficientScope(
        f"The operation needs the scope {SCOPE}.", headers={"WWW-Authenticate": challenge}, required=[SCOPE]
    )


@lru_cache(maxsize=1)
def _lines_page() -> Statement:
    """The statement of a page of lines: $1 the tenant, $2 the order, $3 the first number of the page, $4 the limit."""
    return Statement.of(
        "SELECT coalesce(json_agg(r ORDER BY r.line_no), '[]')::text FROM (SELECT s.* FROM suppliers_purchaseorderline t"
        f" CROSS JOIN LATERAL (SELECT {LINE.select(Selection())}) s"
        " WHERE t.tenant_id = $1 AND t.order_id = $2 AND t.line_no >= $3::int AND t.line_no < $3::int + $4::int) r".replace(
            TENANT, "$1"
        )
    )


class PurchaseOrderViewSet(ApiViewSet):
    """The orders of a buyer."""

    family = "procurement"
    tag = "Purchase orders"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    serializer_class = PurchaseOrderOut
    filterset_class = PurchaseOrderFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("po_number", "number"))
    restriction = WITHIN
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List purchase orders",
            "Without their lines. A member with locations sees the orders that are delivered there, or below. `from` and `to` "
            "are about `created_at`; `search` finds word beginnings of the numbers and the supplier's name.",
            errors=(InvalidFields,),
        ),
        "create": Operation(
            "Create a purchase order",
            "As a draft, which the supplier cannot see. Lines are priced as of now, and nothing is taken from budgets, "
            "agreements or promotions yet. `copy_of` takes lines, supplier, places and terms of an own order, at the prices "
            "of now; what the body says goes before it. At a managed supplier, lines describe goods in words, with a price.",
            body=PurchaseOrderIn,
            answer=PurchaseOrderWithLinesOut,
            run=create_order,
            errors=(*_PRICED, NotFound, PartyClosed),
        ),
        "retrieve": Operation(
            "Get a purchase order",
            "With at most 100 of its lines; `lines_page` reads the rest. `timeline` has the newest entries.",
            answer=PurchaseOrderWithLinesOut,
            parameters=line_pages.parameters(EMBEDDED),
            media=ORDER_MEDIA,
            errors=(InvalidPage, InvalidFields, InvalidTransition, DocumentIncomplete),
        ),
        "partial_update": Operation(
            "Update a purchase order",
            "Changes a draft and prices it anew, which makes a new `revision`. With `lines` all its lines are replaced. If "
            "nothing differs, nothing is written.",
            body=PurchaseOrderChangeIn,
            answer=PurchaseOrderWithLinesOut,
            find=_OWN,
            run=update_order,
            errors=(*_PRICED, InvalidTransition, VersionConflict, CounterpartyOnly, PartyClosed),
        ),
        "submit": Operation(
            "Submit a purchase order",
            "The prices are resolved again: where one is another than in the draft, the answer is 409 `price_changed` with both, "
            "unless `accept_price_changes` is true. From then on prices do not move. The order takes its limits: budget, "
            "limit of spending, lines of agreements, promotions, shares in a shortage. It is sent at once where no step of "
            "the policy `approval_steps` is reached; reservations that it names are then kept for it, and a supplier "
            "that allocates at once allocates the rest: 409 `insufficient_stock` where that is too little and the order refuses "
            "backorders. An order to a managed "
            "supplier is accepted in the same moment.",
            body=SubmitOrderIn,
            answer=PurchaseOrderWithLinesOut,
            find=_PEEKED,
            run=submit_order,
            errors=(*_PRICED, *_LIMITS, InvalidTransition, VersionConflict, CounterpartyOnly, PartyClosed),
        ),
        "approve": Operation(
            "Approve a purchase order",
            "One approval of the `revision` that the approver has read. Who made, changed or submitted the revision does not "
            "approve it, and nobody approves it twice. How many approvals it needs is said by the policy `approval_steps` of "
            "now; the last one sends the order as a submit would. Its limits were taken when it was submitted. A member to "
            "whom the policy `approval_delegation` gives the right of another needs `procurement.read` alone.",
            any_scope=_APPROVERS,
            body=ApproveOrderIn,
            answer=PurchaseOrderWithLinesOut,
            find=OrderToDecide(PeekedOrder(locks=True), _no_approver),
            run=approve_order,
            errors=(*_DECIDED, SupplierNotQualified, RelationshipBlocked, InsufficientStock),
        ),
        "reject": Operation(
            "Reject the approval of a purchase order",
            "Refuses the `revision` that the approver has read. The order is a draft again, its limits are given back, and it "
            "can be changed and submitted anew. Who may do so is as for approving.",
            any_scope=_APPROVERS,
            body=RejectApprovalIn,
            answer=PurchaseOrderWithLinesOut,
            find=OrderToDecide(_PEEKED, _no_approver),
            run=reject_order,
            errors=_DECIDED,
        ),
        "confirm_changes": Operation(
            "Confirm changes of a purchase order",
            "`accept` takes what the supplier has proposed: what it orders more is held to the limits of a submit, and what is "
            "less is given back. Where the total rises and a step of `approval_steps` is reached, approvers decide first. "
            "`decline` cancels the order. `withdraw` takes back the buyer's own change; the order is as it was before.",
            body=ConfirmChangesIn,
            answer=PurchaseOrderWithLinesOut,
            find=_PEEKED,
            run=confirm_changes,
            errors=(
                *_LIMITS_OF_CHANGES,
                InvalidTransition,
                RevisionChanged,
                InsufficientStock,
                VersionConflict,
                CounterpartyOnly,
                PartyClosed,
            ),
        ),
        "propose_changes": Operation(
            "Propose changes of a purchase order",
            "Of one that was sent, as long as nothing is shipped or in preparation. Lines keep their price, further ones are "
            "priced as of now. What is ordered more takes its limits at once; what is less is given back when the supplier "
            "accepts. Where the total rises and a step of `approval_steps` is reached, the supplier reads of it once it is approved.",
            body=ProposeChangesIn,
            answer=PurchaseOrderWithLinesOut,
            find=_PEEKED,
            run=propose_changes,
            errors=(
                *_PRICED_CHANGES,
                *_LIMITS_OF_CHANGES,
                OfferNotAvailable,
                OrderQuantityInvalid,
                InvalidTransition,
                RevisionChanged,
                AlreadyShipped,
                VersionConflict,
                CounterpartyOnly,
                PartyClosed,
            ),
        ),
        "cancel": Operation(
            "Cancel a purchase order",
            "What it has taken is given back, and its stock is free again. An order that the supplier has accepted can be "
            "cancelled while nothing of it is shipped or in preparation and `cancel_until` of the supplier allows it; with "
            "`remainder` only what is not shipped is cancelled, and the order goes on with the rest.",
            body=CancelOrderIn,
            answer=PurchaseOrderWithLinesOut,
            find=_PEEKED,
            run=cancel_order,
            errors=(
                InvalidTransition,
                CancellationNotAllowed,
                AlreadyShipped,
                VersionConflict,
                CounterpartyOnly,
                PartyClosed,
            ),
        ),
        "close": Operation(
            "Close a purchase order",
            "An accepted one of which nothing more will come: what was not received is cancelled, and given back to the limits. "
            "An order of which all is received or cancelled, and invoiced, closes by itself.",
            body=CloseOrderIn,
            answer=PurchaseOrderWithLinesOut,
            find=_PEEKED,
            run=close_order,
            errors=(InvalidTransition, OpenDelivery, OpenInvoice, VersionConflict, CounterpartyOnly, PartyClosed),
        ),
    }

    @action(detail=True, methods=["post"])
    def submit(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Submit a draft."""
        return self.write()

    @action(detail=True, methods=["post"], url_path="confirm-changes")
    def confirm_changes(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Answer a proposed change."""
        return self.write()

    @action(detail=True, methods=["post"], url_path="propose-changes")
    def propose_changes(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Propose a change."""
        return self.write()

    @action(detail=True, methods=["post"])
    def approve(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Approve an order."""
        return self.write()

    @action(detail=True, methods=["post"])
    def reject(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Refuse the approval of an order."""
        return self.write()

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Cancel an order."""
        return self.write()

    @action(detail=True, methods=["post"])
    def close(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Close an order."""
        return self.write()

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one order with a page of its lines, or the document about it that the caller prefers."""
        if self.media:
            return own_order_document(self, kwargs[self.lookup_url_kwarg])
        key, asked = str(kwargs[self.lookup_url_kwarg]), dict[str, Any]()

        def calls(tenant_id: Any) -> list[Call]:
            query = request.GET
            check_names(query, ("fields", "include", *line_pages.NAMES))
            asked["chosen"] = chosen = select(_SHAPE, query.get("fields"), query.get("include"))
            asked["page"] = page = line_pages.asked_lines(query, EMBEDDED)
            one = one_call(_SHAPE, chosen, tenant_id, key, all_of(self.restrictions()))
            return [one, *([Call(_lines_page(), [str(tenant_id), key, *page.bounds])] if page else [])]

        _, (rows, *lines) = self.read(calls)
        if not len(rows):
            raise NotFound("No such order.")
        content, version = rows.row()
        chosen, page = asked["chosen"], asked["page"]
        if page:
            content = page.put_into(content or b"{}", lines[0].value() or b"[]", f"/v1/purchase-orders/{key}")
            chosen = page.selection(chosen)
        return self.answer(content or b"null", tag=preconditions.tag_of(_SHAPE, chosen, content, version))
