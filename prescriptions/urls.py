"""Routes of prescriptions and medications, below /v1/; paths of words stand before those of ids."""

from api.routing import Router

from .dispensing.views.dispensations import DispensationViewSet
from .dispensing.views.prescriptions import DispensingViewSet
from .medications.views import MedicationOfSystemViewSet, MedicationViewSet
from .prescribing.views import PrescriptionViewSet
from .requests.views import AskingViewSet, RequestViewSet

router = Router()
router.register("medications", MedicationViewSet, basename="medication")
router.register("medications/<str:system>", MedicationOfSystemViewSet, basename="medication-of-system")
router.register("prescriptions/requests", RequestViewSet, basename="prescription-request")
router.register("prescriptions/<uuid:pk>/requests", AskingViewSet, basename="asking")
router.register("prescriptions", DispensingViewSet, basename="dispensing")
router.register("prescriptions/<uuid:pk>/dispensations", DispensationViewSet, basename="dispensation")
router.register("prescriptions", PrescriptionViewSet, basename="prescription")

urlpatterns = router.urls
