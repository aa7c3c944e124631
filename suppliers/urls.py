"""Routes of the supplier endpoints, below /v1/."""

from api.routing import Router

from .catalog.views import CategoryViewSet
from .inventory.views import InventoryReservationViewSet
from .storefront.stock.views import BuyerReservationViewSet
from .storefront.views import ProductViewSet

router = Router()
router.register("products", ProductViewSet, basename="product")
router.register("categories", CategoryViewSet, basename="category")
router.register("inventory/reservations", InventoryReservationViewSet, basename="stock-reservation")
router.register("stock/reservations", BuyerReservationViewSet, basename="reservation")

urlpatterns = router.urls
