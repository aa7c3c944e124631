"""The admin pages of this app, one module for each feature; importing them registers the pages."""

from .agreements.desk import admin as agreements
from .analytics import admin as figures
from .analytics.reports import admin as reports
from .catalog import admin as catalog
from .catalog.attributes import admin as attributes
from .company import admin as company
from .deliveries import admin as deliveries
from .deliveries.receiving import admin as receipts
from .exceptions import admin as exceptions
from .files import admin as files
from .inventory import admin as inventory
from .inventory.desk import admin as recall_desk
from .invoices import admin as invoices
from .marketplace import admin as marketplace
from .merging import admin as merging
from .notifications import admin as notifications
from .orders.changes import admin as order_changes
from .orders.desk import admin as orders
from .payments import admin as payments
from .quoting import admin as why_this_price
from .relationships import admin as relationships
from .returns import admin as returns
from .terms import admin as terms
from .terms.promotions import admin as promotions

__all__ = [
    "agreements",
    "attributes",
    "catalog",
    "company",
    "deliveries",
    "exceptions",
    "figures",
    "files",
    "inventory",
    "invoices",
    "marketplace",
    "merging",
    "notifications",
    "order_changes",
    "orders",
    "payments",
    "promotions",
    "recall_desk",
    "receipts",
    "relationships",
    "reports",
    "returns",
    "terms",
    "why_this_price",
]
