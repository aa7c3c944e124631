"""Routes of prescriptions and medications, below /v1/; paths of words stand before those of ids."""

from api.routing import Router

from .dispensing.views.dispensations import DispensationViewSet
from .dispensing.views.prescriptions import DispensingViewSet
from .evidence.views import AuditOfOneViewSet, AuditViewSet, EvidenceViewSet
from .medications.views import MedicationOfSystemViewSet, MedicationViewSet
from .prescribing.views import PrescriptionViewSet
from .recurring.views import RecurringTreatmentViewSet
from .requests.views import AskingViewSet, RequestViewSet
from .templates.views import TemplateViewSet

router = Router()
router.register("medications", MedicationViewSet, basename="medication")
router.register("medications/<str:system>", MedicationOfSystemViewSet, basename="medication-of-system")
router.register("prescriptions/recurring", RecurringTreatmentViewSet, basename="recurring-treatment")
router.register("prescriptions/templates", TemplateViewSet, basename="prescription-template")
router.register("prescriptions/requests", RequestViewSet, basename="prescription-request")
router.register("prescriptions/<uuid:pk>/requests", AskingViewSet, basename="asking")
router.register("prescriptions", DispensingViewSet, basename="dispensing")
router.register("prescriptions/<uuid:pk>/dispensations", DispensationViewSet, basename="dispensation")
router.register("prescriptions/audit", AuditViewSet, basename="prescription-audit")
router.register("prescriptions/<uuid:prescription_id>/audit", AuditOfOneViewSet, basename="audit-of-prescription")
router.register("prescriptions", EvidenceViewSet, basename="prescription-evidence")
router.register("prescriptions", PrescriptionViewSet, basename="prescription")

urlpatterns = router.urls
