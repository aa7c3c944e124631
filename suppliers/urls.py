"""Routes of the supplier endpoints, below /v1/."""

from api.routing import Router

from .agreements.views import PriceAgreementViewSet
from .analytics.reports.views import ReportViewSet
from .analytics.views import InsightsViewSet, MetricsViewSet
from .catalog.attributes.views import AttributeViewSet
from .catalog.views import CategoryViewSet, ProductAttributesViewSet
from .company.views import SupplierProfileViewSet
from .deliveries.receiving.views import ManagedReceiptViewSet, ReceiptViewSet
from .deliveries.views import ShipmentViewSet
from .exchange.views import ExchangedDeliveryViewSet, ExchangedInvoiceViewSet, ExchangedOrderViewSet
from .files.views import ContentViewSet
from .inventory.views import (
    AdjustmentViewSet,
    AvailabilityViewSet,
    InventoryReservationViewSet,
    LotViewSet,
    StockLevelViewSet,
    StockLocationViewSet,
    StockMovementViewSet,
    TransferViewSet,
)
from .invoices.views import OrderInvoiceViewSet
from .marketplace.views import OfferViewSet
from .notifications.views import AlertViewSet, NotificationViewSet, PreferencesViewSet
from .payments.views import PaymentViewSet
from .pricing.views import ProductPricesViewSet
from .quoting.views import BuyerQuoteViewSet, SupplierQuoteViewSet
from .returns.views import ReturnViewSet
from .storefront.discovery.views import RelationshipViewSet, SupplierViewSet
from .storefront.files.views import FileViewSet
from .storefront.market.views import CatalogViewSet
from .storefront.stock.views import BuyerReservationViewSet, StockAvailabilityViewSet
from .storefront.views import ProductViewSet
from .terms.promotions.views import PromotionViewSet
from .terms.views import PriceListViewSet, PricingRuleViewSet

router = Router()
router.register("suppliers/me", SupplierProfileViewSet, basename="supplier-profile")
router.register("suppliers", SupplierViewSet, basename="supplier")
router.register("suppliers/<uuid:pk>/relationship", RelationshipViewSet, basename="supplier-relationship")
router.register("products", ProductViewSet, basename="product")
router.register("products/<uuid:pk>/prices", ProductPricesViewSet, basename="product-prices")
router.register("products/<uuid:pk>/attributes", ProductAttributesViewSet, basename="product-attributes")
router.register("attributes", AttributeViewSet, basename="attribute")
router.register("categories", CategoryViewSet, basename="category")
router.register("files", FileViewSet, basename="file")
router.register("files/content", ContentViewSet, basename="file-content")
router.register("inventory/levels", StockLevelViewSet, basename="stock-level")
router.register("inventory/adjustments", AdjustmentViewSet, basename="adjustment")
router.register("inventory/transfers", TransferViewSet, basename="transfer")
router.register("inventory/availability", AvailabilityViewSet, basename="availability")
router.register("inventory/lots", LotViewSet, basename="lot")
router.register("inventory/movements", StockMovementViewSet, basename="stock-movement")
router.register("inventory/locations", StockLocationViewSet, basename="stock-location")
router.register("inventory/reservations", InventoryReservationViewSet, basename="stock-reservation")
router.register("marketplace/offers", OfferViewSet, basename="offer")
router.register("notifications", NotificationViewSet, basename="notification")
router.register("notifications/alerts", AlertViewSet, basename="alert")
router.register("notifications/preferences", PreferencesViewSet, basename="notification-preferences")
router.register("orders", ExchangedOrderViewSet, basename="order")
router.register("analytics/metrics", MetricsViewSet, basename="metrics")
router.register("analytics/insights", InsightsViewSet, basename="insight")
router.register("analytics/reports", ReportViewSet, basename="report")
router.register("orders/<uuid:order>/shipments", ShipmentViewSet, basename="shipment")
router.register("procurement/deliveries", ExchangedDeliveryViewSet, basename="delivery")
router.register("orders/<uuid:pk>/invoices", OrderInvoiceViewSet, basename="order-invoice")
router.register("procurement/invoices", ExchangedInvoiceViewSet, basename="invoice")
router.register("price-lists", PriceListViewSet, basename="price-list")
router.register("pricing-rules", PricingRuleViewSet, basename="pricing-rule")
router.register("price-agreements", PriceAgreementViewSet, basename="price-agreement")
router.register("promotions", PromotionViewSet, basename="promotion")
router.register("pricing/quote", SupplierQuoteViewSet, basename="supplier-quote")
router.register("procurement/deliveries/<uuid:pk>/receipts", ReceiptViewSet, basename="receipt")
router.register("procurement/returns", ReturnViewSet, basename="return")
router.register("purchase-orders/<uuid:pk>/receipts", ManagedReceiptViewSet, basename="managed-receipt")
router.register("procurement/payments", PaymentViewSet, basename="payment")
router.register("procurement/quote", BuyerQuoteViewSet, basename="buyer-quote")
router.register("procurement/products", CatalogViewSet, basename="catalog-product")
router.register("stock/availability", StockAvailabilityViewSet, basename="stock-availability")
router.register("stock/reservations", BuyerReservationViewSet, basename="reservation")

urlpatterns = router.urls
