"""The supplier's side as a Django app; seeds the platform's category tree after every migration."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

OWNER = "owner"


class SuppliersConfig(AppConfig):
    """One Django app of several feature folders."""

    name = "suppliers"
    verbose_name = "Suppliers"

    def ready(self) -> None:
        """Register the event types and representations of this app, and the seeding after a migration."""
        from .agreements import events as agreement_events  # noqa: F401
        from .analytics.reports import events as report_events  # noqa: F401
        from .catalog import events  # noqa: F401  # registers the event types
        from .company import events as company_events  # noqa: F401
        from .deliveries import events as delivery_events  # noqa: F401
        from .files import events as file_events  # noqa: F401
        from .inventory import events as inventory_events  # noqa: F401
        from .invoices import events as invoice_events  # noqa: F401
        from .marketplace import events as offer_events  # noqa: F401
        from .notifications import events as notification_events  # noqa: F401
        from .orders import events as order_events  # noqa: F401
        from .orders import item_events as order_item_events  # noqa: F401
        from .payments import events as payment_events  # noqa: F401
        from .pricing import events as price_events  # noqa: F401
        from .relationships import events as relationship_events  # noqa: F401
        from .returns import events as return_events  # noqa: F401
        from .terms import events as term_events  # noqa: F401
        from .terms.promotions import events as promotion_events  # noqa: F401

        self._register_representations()
        self._register_copies()
        self._prove_rooms()
        self._register_receipts()
        self._register_evidence()
        self._follow()
        self._book()
        self._alert()
        self._name_documents()
        self._register_checks()
        post_migrate.connect(_after_migrate, sender=self, dispatch_uid="suppliers")

    def _register_checks(self) -> None:
        """Register what `manage.py check` holds the settings of this app against."""
        from django.core import checks

        from .files.checks import check_settings

        checks.register(check_settings)

    def _register_representations(self) -> None:
        """Register the representation of products, for events that carry the whole resource."""
        from api.listing import representation
        from ledger import public as ledger

        from .storefront.representations import ProductOut

        ledger.represent("product", scope="catalog.read", sql=representation(ProductOut.shape))

    def _register_evidence(self) -> None:
        """Register what holds files as evidence, beside their bindings."""
        from .analytics.reports.finishing import EVIDENCE as REPORTS
        from .company.licenses import EVIDENCE
        from .files.evidence import hold_as_evidence

        hold_as_evidence(*EVIDENCE)
        hold_as_evidence(*REPORTS)

    def _follow(self) -> None:
        """Let audiences follow tenants, organizations and groups of buyers, and the inventory follow places and ask
        what buyers see and which orders hold stock.
        """
        from ledger import public as ledger

        from .agreements import following as agreements
        from .analytics import following as rollups
        from .deliveries import recalled
        from .deliveries.shipping import prepared_call
        from .inventory import placing
        from .inventory.items import offered
        from .inventory.recalls import carriers
        from .inventory.reservations import order_books
        from .invoices.billed import unpaid_call
        from .marketplace import following, holding
        from .orders import billing, progress, standing, unallocating
        from .quoting import shares

        offered.ask(holding.QUESTIONS)
        order_books.ask(unallocating.BOOKS)
        carriers.ask(recalled.QUESTIONS)
        progress.ask(prepared_call)
        billing.ask(unpaid_call)
        shares.ask(standing.asked_call)
        ledger.react(following.OF_ORGANIZATIONS, following.follow_organizations)
        ledger.react(following.OF_GROUPS, following.follow_groups)
        ledger.react(agreements.OF_ORGANIZATIONS, agreements.follow_organizations)
        ledger.react(agreements.OF_GROUPS, agreements.follow_groups)
        ledger.react(placing.OF_LOCATIONS, placing.follow_locations)
        ledger.react(agreements.OF_CLOSING, agreements.follow_closing)
        rollups.follow()

    def _book(self) -> None:
        """Let stock follow what pharmacies dispense, and orders the stock that comes, behind the commit."""
        from ledger import public as ledger

        from .inventory.dispensing import booking
        from .orders import backorders

        types = (*booking.DISPENSED, booking.REVERSED)
        ledger.after_commit(booking.SUBSCRIBER, types, measured=True)(booking.book_dispensing)
        follow_stock = ledger.after_commit(
            backorders.SUBSCRIBER, backorders.FOLLOWED, concerned=backorders.is_concerned
        )
        follow_stock(backorders.follow_stock)

    def _alert(self) -> None:
        """Let alerts follow facts, unbooked dispensations, compromised keys and failed proofs."""
        from core.invariants import report_with
        from ledger import public as ledger
        from organizations import public as organizations

        from .inventory.dispensing.booking import tell_unbooked
        from .notifications import following
        from .notifications import overdue as overdue_alerts
        from .orders import overdue

        ledger.after_commit(following.SUBSCRIBER, following.FOLLOWED)(following.follow)
        ledger.after_commit(overdue_alerts.SUBSCRIBER, overdue_alerts.ANSWERED)(overdue_alerts.follow_answers)
        overdue.tell_overdue(overdue_alerts.tell_overdue)
        tell_unbooked(following.tell_unbooked)
        organizations.tell_of_compromises(following.tell_compromised)
        report_with(following.tell_proof)

    def _name_documents(self) -> None:
        """Register the documents about which their parties write to each other."""
        from .deliveries.finding import ShippedFrom
        from .deliveries.models import DELIVERIES
        from .deliveries.shipment_models import ShipmentPrivate
        from .inventory.models import RESERVATIONS
        from .inventory.queries import WITHIN
        from .invoices.models import INVOICES
        from .notifications.documents import DocumentType, register_document
        from .orders.finding import WITHIN as DELIVERED_WITHIN
        from .orders.models import ORDERS
        from .returns.models import RETURNS

        at_buyer: dict[str, Any] = {"owner": "buyer", "location": "delivery_location_id", "within": DELIVERED_WITHIN}
        for one in (
            DocumentType(
                name="reservation",
                kind=RESERVATIONS,
                owner="supplier",
                title="Message about a reservation",
                location="location_id",
                within=WITHIN,
            ),
            DocumentType(name="order", kind=ORDERS, title="Message about an order", **at_buyer),
            DocumentType(name="invoice", kind=INVOICES, title="Message about an invoice", **at_buyer),
            DocumentType(
                name="delivery",
                kind=DELIVERIES,
                title="Message about a delivery",
                within_copy=ShippedFrom(),
                private=(ShipmentPrivate, "from_location_id"),
                **at_buyer,
            ),
            DocumentType(name="return", kind=RETURNS, title="Message about a return", **at_buyer),
        ):
            register_document(one)

    def _register_receipts(self) -> None:
        """Register the rules of receipts, returns and orders, of invoices and payments, and of figures."""
        from core.invariants import prove_with

        from .analytics import proof as figures
        from .deliveries.receiving import proof
        from .invoices import proof as invoices
        from .payments import proof as payments
        from .returns import proof as returns

        for one in (proof, invoices, payments, returns, figures):
            prove_with(one.RULE, one.breaches)

    def _register_copies(self) -> None:
        """Register what the other party may see of documents."""
        from api.listing import representation
        from organizations import public as organizations

        from .agreements.models import AGREEMENTS
        from .agreements.representations import AgreementForSupplierOut
        from .deliveries.models import DELIVERIES
        from .deliveries.receipt_models import RECEIPTS
        from .deliveries.representations import DeliveryForSupplierOut, ReceiptForSupplierOut
        from .inventory.models import RESERVATIONS
        from .inventory.recalls.models import RECALL_NOTICES
        from .inventory.recalls.representations import RecallForBuyerOut
        from .inventory.reservations.representations import ReservationForBuyerOut
        from .invoices.models import INVOICES
        from .invoices.representations import InvoiceForSupplierOut
        from .orders.models import ORDERS
        from .orders.representations import OrderForSupplierOut
        from .payments.models import PAYMENTS
        from .payments.representations import PaymentForSupplierOut
        from .returns.models import RETURNS
        from .returns.representations import ReturnForSupplierOut

        for kind, shown in (
            (AGREEMENTS, AgreementForSupplierOut),
            (RESERVATIONS, ReservationForBuyerOut),
            (ORDERS, OrderForSupplierOut),
            (DELIVERIES, DeliveryForSupplierOut),
            (RECEIPTS, ReceiptForSupplierOut),
            (RETURNS, ReturnForSupplierOut),
            (PAYMENTS, PaymentForSupplierOut),
            (INVOICES, InvoiceForSupplierOut),
            (RECALL_NOTICES, RecallForBuyerOut),
        ):
            organizations.register_received(kind, representation=representation(shown.shape))

    def _prove_rooms(self) -> None:
        """Register the rules between the rows of agreements, stock, the market and terms, and of searches."""
        from core.invariants import prove_with

        from .agreements import proof as agreements
        from .catalog import availability
        from .inventory import proof as inventory
        from .marketplace import proof as market
        from .orders import search_proof as searches
        from .terms import proof as terms
        from .terms.promotions import proof as promotions

        for room in (agreements, inventory, market, terms, promotions, availability, searches):
            prove_with(room.RULE, room.breaches)


def _after_migrate(*, using: str, **_: Any) -> None:
    from .catalog.attributes.definitions import seed_definitions
    from .catalog.taxonomy import seed_taxonomy

    if using == OWNER:
        seed_taxonomy(using)
        seed_definitions(using)
