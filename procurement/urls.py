"""Routes of the buyer's side, below /v1/."""

from api.routing import Router

from .budgets.views import BudgetViewSet

router = Router()
router.register("procurement/budgets", BudgetViewSet, basename="budget")

urlpatterns = router.urls
