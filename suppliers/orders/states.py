"""The states of orders, and the choices of their fields. Source: contract, supply-order.md 2."""

from typing import Final

from django.db.models import TextChoices


class OrderStatus(TextChoices):
    """What people have decided about an order; progress of its goods and bills stands elsewhere."""

    DRAFT = "draft", "Draft"
    PENDING_APPROVAL = "pending_approval", "Waits for an approval"
    SENT = "sent", "Sent"
    CHANGE_PROPOSED = "change_proposed", "A change is proposed"
    ACCEPTED = "accepted", "Accepted"
    REJECTED = "rejected", "Rejected"
    CANCELLED = "cancelled", "Cancelled"
    CLOSED = "closed", "Closed"


class ApprovalFor(TextChoices):
    """What an approval is asked for."""

    SENDING = "sending", "Sending the order"
    SUPPLIER_CHANGE = "supplier_change", "Accepting the supplier's change"
    BUYER_CHANGE = "buyer_change", "Proposing the buyer's change"


class Party(TextChoices):
    """Who acts on an order, or has proposed its change."""

    BUYER = "buyer", "Buyer"
    SUPPLIER = "supplier", "Supplier"


class Awaiting(TextChoices):
    """Whom an order waits for."""

    BUYER = "buyer", "The buyer"
    SUPPLIER = "supplier", "The supplier"
    BUYER_APPROVAL = "buyer_approval", "The buyer's approval"


class Fulfilment(TextChoices):
    """How far the goods of an order are; derived from the counters of its lines."""

    UNFULFILLED = "unfulfilled", "Nothing is shipped"
    PARTIALLY_SHIPPED = "partially_shipped", "A part is shipped"
    SHIPPED = "shipped", "All is shipped"
    PARTIALLY_RECEIVED = "partially_received", "A part is received"
    RECEIVED = "received", "All is received"


class Billing(TextChoices):
    """How far the bills of an order are; derived from its invoices."""

    NOT_INVOICED = "not_invoiced", "Nothing is invoiced"
    PARTIALLY_INVOICED = "partially_invoiced", "A part is invoiced"
    INVOICED = "invoiced", "All is invoiced"
    PAID = "paid", "All invoices are paid"


class Priority(TextChoices):
    """How urgent an order is."""

    ROUTINE = "routine", "Routine"
    URGENT = "urgent", "Urgent"
    EMERGENCY = "emergency", "Emergency"


class Substitution(TextChoices):
    """Which other products the supplier may propose."""

    NONE = "none", "None"
    EQUIVALENT = "equivalent", "Equivalent ones"
    ASK = "ask", "Any"


class Backorders(TextChoices):
    """Whether the supplier may deliver a part later."""

    ACCEPT = "accept", "It may"
    REFUSE = "refuse", "It may not"


class DocumentKind(TextChoices):
    """What a document number of a tenant is for."""

    PURCHASE_ORDER = "purchase_order", "Order of the tenant as buyer"
    ORDER = "order", "Order to the tenant as supplier"
    DELIVERY = "delivery", "Delivery to the tenant"
    INVOICE = "invoice", "Invoice or credit note of the tenant as supplier"
    RETURN = "return", "Return by the tenant"
    PAYMENT = "payment", "Payment of the tenant"


RETURNED: Final = "return"  # the source of a price of nothing: goods in place of what came back
TERMINAL: Final = (OrderStatus.REJECTED.value, OrderStatus.CANCELLED.value, OrderStatus.CLOSED.value)
# As the supplier reads the states: he knows no draft, and nothing of the buyer's approvals.
SHARED: Final = [
    one for one in OrderStatus.values if one not in (OrderStatus.DRAFT.value, OrderStatus.PENDING_APPROVAL.value)
]


class LineStatus(TextChoices):
    """How far a line of an order is; derived from its counters."""

    OPEN = "open", "Not answered"
    ACCEPTED = "accepted", "Accepted"
    BACKORDERED = "backordered", "A part comes later"
    PARTIALLY_SHIPPED = "partially_shipped", "A part is shipped"
    SHIPPED = "shipped", "Shipped"
    RECEIVED = "received", "Received"
    CANCELLED = "cancelled", "Cancelled"
