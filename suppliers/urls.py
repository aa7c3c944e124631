"""Routes of the supplier endpoints, below /v1/."""

from api.routing import Router

from .catalog.views import CategoryViewSet
from .storefront.views import ProductViewSet

router = Router()
router.register("products", ProductViewSet, basename="product")
router.register("categories", CategoryViewSet, basename="category")

urlpatterns = router.urls
