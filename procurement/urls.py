"""Routes of the buyer's side, below /v1/."""

from api.routing import Router

from .budgets.views import BudgetViewSet
from .purchasing.views import PurchaseOrderViewSet

router = Router()
router.register("procurement/budgets", BudgetViewSet, basename="budget")
router.register("purchase-orders", PurchaseOrderViewSet, basename="purchase-order")

urlpatterns = router.urls
