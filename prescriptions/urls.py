"""Routes of prescriptions and medications, below /v1/."""

from api.routing import Router

from .medications.views import MedicationOfSystemViewSet, MedicationViewSet

router = Router()
router.register("medications", MedicationViewSet, basename="medication")
router.register("medications/<str:system>", MedicationOfSystemViewSet, basename="medication-of-system")

urlpatterns = router.urls
