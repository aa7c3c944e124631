"""HTTP of payments, for both parties."""

from functools import lru_cache
from typing import Any, ClassVar, Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import preconditions
from api.filters import check_names
from api.operations import Operation
from api.shapes import Selection, select
from api.sorts import ORDERING_FIELDS, SortBy
from api.two_sides import TwoSidedViewSet
from core.conditions import TENANT
from core.errors import InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Statement
from organizations.public import CounterpartyOnly, PartyClosed
from suppliers.agreements.refusals import SelfTrade
from suppliers.invoices.refusals import ExceedsBalance, InvoiceNotApproved

from .confirming import cancel_payment, confirm_payment
from .creating import create_payment
from .filters import PaymentFilters
from .finding import OWN
from .reading.representations import PaymentOut, PaymentWithInvoicesOut
from .reading.shapes import ROWS, WITHIN
from .refusals import PaymentCurrencyMismatch, PaymentFinal, SupplierPaymentBlocked
from .serializers import CancelPaymentIn, ConfirmPaymentIn, PaymentIn
from .telling import BUYER

_READ: Final = "orders:read"
_PAY: Final = "procurement.pay"
_FEATURE: Final = "procurement"
_SHAPE: Final = PaymentWithInvoicesOut.shape
_ENDED: Final = (PaymentFinal, InvalidTransition, VersionConflict, CounterpartyOnly, PartyClosed)


@lru_cache(maxsize=256)
def _one(selection: Selection) -> str:
    """The SQL of one payment: JSON, version, and the side of the tenant in it; $1 the tenant, $2 the payment."""
    return (
        f"SELECT row_to_json(r)::text, t.version::text, t.side FROM {ROWS.built} t"
        f" CROSS JOIN LATERAL (SELECT {_SHAPE.select(selection)}) r WHERE t.tenant_id = $1 AND t.id = $2 AND {WITHIN.sql}".replace(
            TENANT, "$1"
        )
    )


class PaymentViewSet(TwoSidedViewSet):
    """Payments of the tenant, as their buyer or as their supplier."""

    family = "procurement"
    tag = "Payments"
    scope_prefix = "procurement."
    buyer_feature = _FEATURE
    serializer_class = PaymentOut
    filterset_class = PaymentFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("payment_number", "number"))
    restriction = WITHIN
    operations: ClassVar[dict[str, Operation]] = {
        "list": Operation(
            "List payments",
            "Without the invoices that they pay. `from` and `to` are about `value_date`, or where there is none `created_at`; "
            "`search` finds word beginnings of the number and of the other party's name. A member with locations sees, as a "
            "buyer, payments of which all orders are delivered there, or below.",
            supplier_scope=_READ,
            errors=(InvalidFields,),
        ),
        "create": Operation(
            "Create a payment",
            "To one supplier, for invoices that are released for payment. The amounts are held on the invoices from now on: "
            "another payment can take what is left alone. `errors` of a 409 or 422 names each invoice. With the method "
            "`offset`, the payment succeeds at once: it uses the credit of the invoices in `credit_sources`, once.",
            scope=_PAY,
            kind=BUYER,
            feature=_FEATURE,
            body=PaymentIn,
            answer=PaymentWithInvoicesOut,
            run=create_payment,
            errors=(
                SelfTrade, InvalidFields, SupplierPaymentBlocked, PaymentCurrencyMismatch, InvoiceNotApproved,
                ExceedsBalance, PartyClosed,
            ),
        ),
        "retrieve": Operation(
            "Get a payment",
            "With the invoices that it pays. The account that pays, the provider's reference and who acted are the buyer's "
            "alone: its supplier reads null.",
            answer=PaymentWithInvoicesOut,
            supplier_scope=_READ,
        ),
        "confirm": Operation(
            "Confirm a payment",
            "Records what the bank has made of it: `processing` (sent), `succeeded`, `failed`, or `reversed` of one that had "
            "succeeded. What is held on the invoices is paid, or given back; what was paid is due again. A refusal lists in "
            "`allowed` the outcomes that the state allows, and `cancel`. A payment that has failed, or was cancelled or "
            "reversed, is at its end: 409 `payment_final`.",
            scope=_PAY,
            kind=BUYER,
            feature=_FEATURE,
            body=ConfirmPaymentIn,
            answer=PaymentWithInvoicesOut,
            find=OWN,
            run=confirm_payment,
            errors=(InvalidFields, ExceedsBalance, *_ENDED),
        ),
        "cancel": Operation(
            "Cancel a payment",
            "While it is pending; what it holds on its invoices is free again.",
            scope=_PAY,
            kind=BUYER,
            feature=_FEATURE,
            body=CancelPaymentIn,
            answer=PaymentWithInvoicesOut,
            find=OWN,
            run=cancel_payment,
            errors=_ENDED,
        ),
    }  # fmt: skip

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer one payment."""
        key, asked = str(kwargs[self.lookup_url_kwarg]), dict[str, Any]()

        def calls(tenant_id: Any) -> list[Call]:
            check_names(request.GET, ("fields", "include"))
            asked["chosen"] = chosen = select(_SHAPE, request.GET.get("fields"), request.GET.get("include"))
            return [Call(Statement.composed(_one(chosen)), [str(tenant_id), key])]

        actor, (rows,) = self.read(calls)
        if not len(rows):
            raise NotFound("No such payment.")
        content, version, side = rows.row()
        self.check_place(actor, (side or b"").decode())
        return self.answer(content or b"null", tag=preconditions.tag_of(_SHAPE, asked["chosen"], content, version))

    @action(detail=True, methods=["post"])
    def confirm(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Record what the bank has made of the payment."""
        return self.write()

    @action(detail=True, methods=["post"])
    def cancel(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Cancel the payment."""
        return self.write()
