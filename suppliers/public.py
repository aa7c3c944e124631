"""The door of suppliers: what other apps may use. Everything else in here is private."""

from .agreements.refusals import AgreementExhausted, SelfTrade
from .catalog.fields import QUANTITY_MAX, GtinField, UnitField
from .catalog.states import DAYS_MAX
from .company.fields import WholeEntry
from .company.serializers import PaymentTermsIn
from .exchange.http.documents import ORDER_MEDIA
from .exchange.http.documents import own_order as own_order_document
from .exchange.refusals import DocumentIncomplete
from .files.handing_over import Named as NamedFiles
from .files.handing_over import binding_calls, check_files, files_calls, rebinding_calls
from .files.serializers import FileIdsField
from .files.states import ResourceType as FileResource
from .inventory.refusals import InsufficientStock, ReservationNotActive
from .inventory.reservations.changes import joined
from .inventory.states import Unit
from .marketplace.refusals import OfferNotAvailable, OrderQuantityInvalid
from .notifications.alerts import Cause, settle
from .notifications.preferences import Preferences
from .notifications.states import Severity
from .notifications.states import Type as AlertType
from .orders.budgeting import Budgets
from .orders.budgeting import ask as ask_budgets
from .orders.changes.judging import (
    further_lines,
    goods_calls,
    judge_substitutes,
    named_as,
    substitutes_calls,
)
from .orders.changes.judging import judge as judge_more
from .orders.changes.settling import LINE as SETTLED_LINE
from .orders.changes.settling import ChangeEnding, give_back_more, go_back, taken_over, to_state_before
from .orders.changes.settling import accept as accept_change
from .orders.course import (
    ACCEPTED,
    BY_BUYER,
    BY_SUPPLIER,
    CANCELLED,
    CLOSED,
    DRAFT,
    FOR_BUYERS,
    FOR_SENDING,
    FOR_SUPPLIERS,
    Place,
    Who,
    require,
    step_of,
)
from .orders.ending import Ahead, Ending, ahead_of, cut_all, end_order, give_back
from .orders.finding import WITHIN as ORDERS_WITHIN
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
from .orders.limits import copy_calls, taken, taking_calls
from .orders.models import AWAITING_SQL, MOST_LINES, ORDERS, PurchaseOrder, PurchaseOrderLine
from .orders.naming import Seller, aliases_call, asked_of, check_kind, gtins_call, seller_call, seller_of
from .orders.numbers import claim_calls, number_of
from .orders.peeks import OrderPeek, read_call
from .orders.pricing import OrderedLine, Terms, manual_lines, priced_lines, reading_calls, totals
from .orders.progress import counted, cut, delivered, fit, on_the_way, prepared_calls, prepared_of
from .orders.proposals.content import (
    added_of,
    as_changed,
    entry_of,
    lines_added,
    number_added,
    open_of,
    reprice,
    take_totals,
)
from .orders.proposals.finding import changes_call, changes_of, deciding_call, proposing_call
from .orders.proposals.models import OrderChange
from .orders.proposals.needs import Need, held_by, move, need_of
from .orders.proposals.representations import DeliveryAddressOut, change_of_order
from .orders.proposals.states import ChangeState
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
    OrderDeliveryOut,
    OrderFileOut,
    OrderInvoiceOut,
    OrderLineForSupplierOut,
    OrderTimelineEntryOut,
    OrderTotalsOut,
    SnapshotOut,
)
from .orders.revisions import check_revision
from .orders.searching import ORDERS_OF_BUYER
from .orders.sending import (
    BOTH,
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
    DELIVERIES_TOTAL_SQL,
    EMBEDDED,
    INVOICES_SQL,
    INVOICES_TOTAL_SQL,
    OWN_TAG_SQL,
    timeline_sql,
    timeline_total_sql,
)
from .orders.standing import (
    Share,
    Standing,
    beginning_call,
    check_licenses,
    check_more,
    check_relationship,
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
    Party,
    Priority,
    Substitution,
)
from .orders.taxing import rates_call, rates_of
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
    "BOTH",
    "BY_BUYER",
    "BY_SUPPLIER",
    "CANCELLED",
    "CLOSED",
    "DAYS_MAX",
    "DELIVERIES_SQL",
    "DELIVERIES_TOTAL_SQL",
    "DRAFT",
    "EMBEDDED",
    "FOR_BUYERS",
    "FOR_SENDING",
    "FOR_SUPPLIERS",
    "INVOICES_SQL",
    "INVOICES_TOTAL_SQL",
    "MOST_LINES",
    "ORDERS",
    "ORDERS_OF_BUYER",
    "ORDERS_WITHIN",
    "ORDER_MEDIA",
    "OWN_TAG_SQL",
    "QUANTITY_MAX",
    "SETTLED_LINE",
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
    "ChangeEnding",
    "ChangeState",
    "DeliveryAddressOut",
    "DocumentIncomplete",
    "DocumentKind",
    "Ending",
    "FileIdsField",
    "FileResource",
    "Fulfilment",
    "GtinField",
    "InsufficientStock",
    "Judged",
    "LicenseMissing",
    "NamedFiles",
    "Need",
    "NotOnFormulary",
    "OfferNotAvailable",
    "OpenDelivery",
    "OpenInvoice",
    "OrderChange",
    "OrderDeliveryOut",
    "OrderFileOut",
    "OrderInvoiceOut",
    "OrderLineForSupplierOut",
    "OrderPeek",
    "OrderQuantityInvalid",
    "OrderStatus",
    "OrderTimelineEntryOut",
    "OrderTotalsOut",
    "OrderedLine",
    "Party",
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
    "RevisionChanged",
    "SelfTrade",
    "Seller",
    "Sent",
    "Severity",
    "Share",
    "SnapshotOut",
    "SpendLimitExceeded",
    "Standing",
    "Substitution",
    "SupplierNotQualified",
    "Terms",
    "Unit",
    "UnitField",
    "Who",
    "WholeEntry",
    "accept_change",
    "added_of",
    "ahead_of",
    "aliases_call",
    "as_asked",
    "as_changed",
    "ask_budgets",
    "asked_of",
    "beginning_call",
    "binding_calls",
    "by_rounds",
    "change_of_order",
    "changes_call",
    "changes_of",
    "check_files",
    "check_kind",
    "check_licenses",
    "check_more",
    "check_relationship",
    "check_revision",
    "check_takes_orders",
    "claim_calls",
    "copy_calls",
    "counted",
    "cut",
    "cut_all",
    "deciding_call",
    "delivered",
    "differ",
    "end_order",
    "entry_of",
    "files_calls",
    "fit",
    "further_lines",
    "give_back",
    "give_back_more",
    "go_back",
    "goods_calls",
    "goods_of",
    "gtins_call",
    "header_call",
    "held_by",
    "hold",
    "hold_calls",
    "insert_lines_call",
    "joined",
    "judge",
    "judge_more",
    "judge_substitutes",
    "lines_added",
    "lines_call",
    "lines_of",
    "manual_lines",
    "move",
    "named_as",
    "need_of",
    "number_added",
    "number_calls",
    "number_of",
    "numbered",
    "on_lines",
    "on_the_way",
    "open_of",
    "order_part",
    "own_order_document",
    "prepared_calls",
    "prepared_of",
    "priced_lines",
    "proposing_call",
    "rates_call",
    "rates_of",
    "read_call",
    "reading_calls",
    "reading_of",
    "rebinding_calls",
    "replace_lines_calls",
    "reprice",
    "require",
    "saving_calls",
    "seller_call",
    "seller_of",
    "send",
    "serial_call",
    "settle",
    "standing_call",
    "standing_of",
    "step_of",
    "substitutes_calls",
    "take_totals",
    "taken",
    "taken_over",
    "taking_calls",
    "timeline_sql",
    "timeline_total_sql",
    "to_state_before",
    "told",
    "totals",
    "used_calls",
]
