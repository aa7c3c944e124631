"""HTTP of receipts of a delivery."""

from typing import Any, ClassVar, Final

from api.operations import Operation
from api.views import ApiViewSet
from core.errors import InvalidFields, InvalidTransition
from organizations.public import CounterpartyOnly, PartyClosed
from suppliers.deliveries.refusals import AlreadyCompleted
from suppliers.inventory.refusals import LotConflict, LotRecalled, StorageMismatch, WrongSerial

from .finding import OwnDelivery
from .managed import OwnManagedOrder, receive_managed
from .recording import receive
from .refusals import LotMismatch, OverReceipt, ReceiptNotReversible
from .representations import ReceiptOut
from .serializers import BODY_BYTES, ManagedReceiptIn, ReceiptIn

REFUSALS: Final[tuple[Any, ...]] = (
    InvalidFields, InvalidTransition, AlreadyCompleted, LotMismatch, OverReceipt, WrongSerial, LotConflict, LotRecalled,
    StorageMismatch, CounterpartyOnly, PartyClosed,
)  # fmt: skip


class ManagedReceiptViewSet(ApiViewSet):
    """Receipts of an order to a supplier that is not on the platform."""

    family = "procurement"
    tag = "Purchase orders"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    serializer_class = ReceiptOut
    operation_ids: ClassVar = {"create": "receivePurchaseOrder"}
    operations: ClassVar[dict[str, Operation]] = {
        "create": Operation(
            "Receive an order of a managed supplier",
            "Makes the delivery and its receipt at once; `GET /v1/procurement/deliveries` shows it. A supplier on the platform "
            "ships its orders itself: 403 `counterparty_only`. Goods in words come to no stock.",
            scope="procurement.receive",
            body=ManagedReceiptIn,
            body_limit=BODY_BYTES,
            find=OwnManagedOrder(),
            run=receive_managed,
            errors=(InvalidFields, InvalidTransition, OverReceipt, CounterpartyOnly),
        ),
    }


class ReceiptViewSet(ApiViewSet):
    """Receipts of one delivery of the buyer."""

    family = "procurement"
    tag = "Deliveries"
    scope_prefix = "procurement."
    tenant_kind = "buyer"
    feature = "procurement"
    serializer_class = ReceiptOut
    operation_ids: ClassVar = {"create": "receiveDelivery"}
    operations: ClassVar[dict[str, Operation]] = {
        "create": Operation(
            "Receive a delivery",
            "Says of lines what was accepted, rejected and short; what no receipt speaks of is open. Once all that was shipped "
            "is dealt with, the delivery is completed. Accepted goods come to the buyer's stock where the place keeps stock: "
            "its lot is made from the line of the delivery. With `reverses`, a receipt of the last 30 days is taken back, "
            "while its goods are still there. A receipt is never changed.",
            scope="procurement.receive",
            body=ReceiptIn,
            body_limit=BODY_BYTES,
            find=OwnDelivery(),
            run=receive,
            errors=(*REFUSALS, ReceiptNotReversible),
        ),
    }
