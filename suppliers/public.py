"""The door of suppliers: what other apps may use. Everything else in here is private."""

from .agreements.refusals import AgreementExhausted, SelfTrade
from .catalog.fields import QUANTITY_MAX, GtinField, UnitField
from .company.fields import WholeEntry
from .company.folding import folded_sql
from .company.serializers import PaymentTermsIn
from .inventory.refusals import InsufficientStock, ReservationNotActive
from .inventory.reservations.changes import joined, touched
from .inventory.states import Unit
from .marketplace.refusals import OfferNotAvailable, OrderQuantityInvalid
from .notifications.alerts import Cause, settle
from .notifications.preferences import Preferences
from .notifications.states import Severity
from .notifications.states import Type as AlertType
from .orders.budgeting import Budgets
from .orders.budgeting import ask as ask_budgets
from .orders.course import ACCEPTED, CANCELLED, CLOSED, DRAFT, FOR_SENDING, OFFERED, Place, Step, Who, require
from .orders.ending import Ahead, Ending, Gone, ahead_of, close_if_complete, cut_all, end_order, give_back
from .orders.filters import searched
from .orders.finding import (
    as_asked,
    differ,
    insert_lines_call,
    lines_call,
    lines_of,
    numbered,
    replace_lines_calls,
)
from .orders.judging import Judged, judge, reading_of
from .orders.limits import Returning, copy_calls, returning, taken, taking_calls
from .orders.models import AWAITING_SQL, MOST_LINES, ORDERS, PurchaseOrder, PurchaseOrderLine
from .orders.naming import Seller, aliases_call, asked_of, gtins_call, seller_call, seller_of
from .orders.numbers import claim_calls, number_of
from .orders.peeks import OrderPeek, read_call
from .orders.pricing import OrderedLine, Terms, manual_lines, priced_lines, reading_calls, totals
from .orders.progress import cut, delivered, fulfilment_of, on_the_way
from .orders.refusals import (
    AllocationExceeded,
    AlreadyShipped,
    CancellationNotAllowed,
    LicenseMissing,
    NotOnFormulary,
    OpenDelivery,
    OpenInvoice,
    PriceChanged,
    RelationshipBlocked,
    RevisionChanged,
    SpendLimitExceeded,
    SupplierNotQualified,
    on_lines,
)
from .orders.representations import (
    SHARED_HEADER,
    DeliveryAddressOut,
    OrderDeliveryOut,
    OrderLineForSupplierOut,
    OrderTimelineEntryOut,
    OrderTotalsOut,
    SnapshotOut,
)
from .orders.sending import (
    Sent,
    check_takes_orders,
    header_call,
    hold,
    hold_calls,
    number_calls,
    order_part,
    saving_calls,
    send,
)
from .orders.shapes import (
    DELIVERIES_SQL,
    DELIVERIES_TAG_SQL,
    DELIVERIES_TOTAL_SQL,
    EMBEDDED,
    timeline_sql,
    timeline_total_sql,
)
from .orders.standing import (
    Standing,
    check_relationship,
    check_used,
    serial_call,
    standing_call,
    standing_of,
    used_calls,
)
from .orders.states import (
    ApprovalFor,
    Awaiting,
    Backorders,
    DocumentKind,
    Fulfilment,
    OrderStatus,
    Priority,
    Substitution,
)
from .orders.telling import told
from .quoting.candidates import goods_of
from .quoting.refusals import PriceNotAvailable
from .quoting.representations import PriceStepOut
from .rounds import BATCH, by_rounds
from .terms.promotions.refusals import PromotionExhausted

__all__ = [
    "ACCEPTED",
    "AWAITING_SQL",
    "BATCH",
    "CANCELLED",
    "CLOSED",
    "DELIVERIES_SQL",
    "DELIVERIES_TAG_SQL",
    "DELIVERIES_TOTAL_SQL",
    "DRAFT",
    "EMBEDDED",
    "FOR_SENDING",
    "MOST_LINES",
    "OFFERED",
    "ORDERS",
    "QUANTITY_MAX",
    "SHARED_HEADER",
    "AgreementExhausted",
    "Ahead",
    "AlertType",
    "AllocationExceeded",
    "AlreadyShipped",
    "ApprovalFor",
    "Awaiting",
    "Backorders",
    "Budgets",
    "CancellationNotAllowed",
    "Cause",
    "DeliveryAddressOut",
    "DocumentKind",
    "Ending",
    "Fulfilment",
    "Gone",
    "GtinField",
    "InsufficientStock",
    "Judged",
    "LicenseMissing",
    "NotOnFormulary",
    "OfferNotAvailable",
    "OpenDelivery",
    "OpenInvoice",
    "OrderDeliveryOut",
    "OrderLineForSupplierOut",
    "OrderPeek",
    "OrderQuantityInvalid",
    "OrderStatus",
    "OrderTimelineEntryOut",
    "OrderTotalsOut",
    "OrderedLine",
    "PaymentTermsIn",
    "Place",
    "Preferences",
    "PriceChanged",
    "PriceNotAvailable",
    "PriceStepOut",
    "Priority",
    "PromotionExhausted",
    "PurchaseOrder",
    "PurchaseOrderLine",
    "RelationshipBlocked",
    "ReservationNotActive",
    "Returning",
    "RevisionChanged",
    "SelfTrade",
    "Seller",
    "Sent",
    "Severity",
    "SnapshotOut",
    "SpendLimitExceeded",
    "Standing",
    "Step",
    "Substitution",
    "SupplierNotQualified",
    "Terms",
    "Unit",
    "UnitField",
    "Who",
    "WholeEntry",
    "ahead_of",
    "aliases_call",
    "as_asked",
    "ask_budgets",
    "asked_of",
    "by_rounds",
    "check_relationship",
    "check_takes_orders",
    "check_used",
    "claim_calls",
    "close_if_complete",
    "copy_calls",
    "cut",
    "cut_all",
    "delivered",
    "differ",
    "end_order",
    "folded_sql",
    "fulfilment_of",
    "give_back",
    "goods_of",
    "gtins_call",
    "header_call",
    "hold",
    "hold_calls",
    "insert_lines_call",
    "joined",
    "judge",
    "lines_call",
    "lines_of",
    "manual_lines",
    "number_calls",
    "number_of",
    "numbered",
    "on_lines",
    "on_the_way",
    "order_part",
    "priced_lines",
    "read_call",
    "reading_calls",
    "reading_of",
    "replace_lines_calls",
    "require",
    "returning",
    "saving_calls",
    "searched",
    "seller_call",
    "seller_of",
    "send",
    "serial_call",
    "settle",
    "standing_call",
    "standing_of",
    "taken",
    "taking_calls",
    "timeline_sql",
    "timeline_total_sql",
    "told",
    "totals",
    "touched",
    "used_calls",
]
