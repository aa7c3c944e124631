"""The models of all feature folders, imported here because Django looks for them here."""

from .agreements.models import (
    AgreementAudience,
    AgreementDraft,
    PriceAgreement,
    PriceAgreementLine,
    ReceivedAgreement,
    ReceivedAgreementLine,
)
from .analytics.models import AcceptanceDay, AcceptanceMark, DueDay, RollUp, RollUpMark, RollUpSum
from .analytics.reports.models import Report, ReportPart
from .catalog.models import Category, MarketWord, Packaging, PlatformCategory, Product, ProductCounter, ProductWord
from .company.models import BuyerGroup, BuyerGroupMember, SupplierLicense, SupplierProfile
from .deliveries.models import (
    Delivery,
    DeliveryException,
    DeliveryLine,
    DeliveryPackage,
    DeliveryPackageLine,
    DeliverySerial,
    ReceivedDelivery,
    ReceivedDeliveryLine,
)
from .deliveries.receipt_models import Receipt, ReceiptLine, ReceivedReceipt
from .deliveries.shipment_models import ShipmentDraft, ShipmentPrivate
from .files.models import File, FileBinding, LooseObject
from .inventory.dispensing.models import DispenseBooking
from .inventory.items.models import StockItem
from .inventory.models import (
    Allocation,
    Lot,
    ReceivedReservation,
    Reservation,
    StockLevel,
    StockMovement,
    StockPlace,
)
from .inventory.movements.models import MovementCounter
from .inventory.recalls.models import Recall, RecallNotice, ReceivedRecall
from .inventory.serial_models import Serial
from .invoices.models import Invoice, InvoiceLine, ReceivedInvoice
from .marketplace.models import Audience, AudienceMember, AudienceOrganization, Offer, OfferExclusion
from .notifications.models import (
    Notification,
    NotificationCounter,
    NotificationMail,
    NotificationPreference,
    NotificationRead,
    OpenAlert,
)
from .orders.models import (
    PriceTrace,
    PurchaseOrder,
    PurchaseOrderLine,
    ReceivedOrder,
    ReceivedOrderLine,
)
from .orders.number_models import DocumentNumber
from .orders.proposals.models import OrderChange
from .orders.word_models import DocumentWord, ReceivedOrderCounter
from .payments.models import CreditSource, Payment, PaymentAllocation, ReceivedPayment
from .pricing.models import ListPrice, ListPriceTier
from .relationships.models import (
    ApprovedSubstitute,
    BlockedProduct,
    ItemAlias,
    ManagedRegistration,
    ManagedSupplier,
    Relationship,
)
from .returns.models import ReceivedReturn, Return, ReturnLine, ReturnPrivate
from .terms.models import PriceList, PriceListEntry, PricingRule
from .terms.promotions.models import Promotion, PromotionBuyer, PromotionRedemption

__all__ = [
    "AcceptanceDay",
    "AcceptanceMark",
    "AgreementAudience",
    "AgreementDraft",
    "Allocation",
    "ApprovedSubstitute",
    "Audience",
    "AudienceMember",
    "AudienceOrganization",
    "BlockedProduct",
    "BuyerGroup",
    "BuyerGroupMember",
    "Category",
    "CreditSource",
    "Delivery",
    "DeliveryException",
    "DeliveryLine",
    "DeliveryPackage",
    "DeliveryPackageLine",
    "DeliverySerial",
    "DispenseBooking",
    "DocumentNumber",
    "DocumentWord",
    "DueDay",
    "File",
    "FileBinding",
    "Invoice",
    "InvoiceLine",
    "ItemAlias",
    "ListPrice",
    "ListPriceTier",
    "LooseObject",
    "Lot",
    "ManagedRegistration",
    "ManagedSupplier",
    "MarketWord",
    "MovementCounter",
    "Notification",
    "NotificationCounter",
    "NotificationMail",
    "NotificationPreference",
    "NotificationRead",
    "Offer",
    "OfferExclusion",
    "OpenAlert",
    "OrderChange",
    "Packaging",
    "Payment",
    "PaymentAllocation",
    "PlatformCategory",
    "PriceAgreement",
    "PriceAgreementLine",
    "PriceList",
    "PriceListEntry",
    "PriceTrace",
    "PricingRule",
    "Product",
    "ProductCounter",
    "ProductWord",
    "Promotion",
    "PromotionBuyer",
    "PromotionRedemption",
    "PurchaseOrder",
    "PurchaseOrderLine",
    "Recall",
    "RecallNotice",
    "Receipt",
    "ReceiptLine",
    "ReceivedAgreement",
    "ReceivedAgreementLine",
    "ReceivedDelivery",
    "ReceivedDeliveryLine",
    "ReceivedInvoice",
    "ReceivedOrder",
    "ReceivedOrderCounter",
    "ReceivedOrderLine",
    "ReceivedPayment",
    "ReceivedRecall",
    "ReceivedReceipt",
    "ReceivedReservation",
    "ReceivedReturn",
    "Relationship",
    "Report",
    "ReportPart",
    "Reservation",
    "Return",
    "ReturnLine",
    "ReturnPrivate",
    "RollUp",
    "RollUpMark",
    "RollUpSum",
    "Serial",
    "ShipmentDraft",
    "ShipmentPrivate",
    "StockItem",
    "StockLevel",
    "StockMovement",
    "StockPlace",
    "SupplierLicense",
    "SupplierProfile",
]
