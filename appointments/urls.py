"""Routes of appointments, below /v1/."""

from api.routing import Router

from .views import AppointmentViewSet, AvailabilityViewSet, ScheduleViewSet

router = Router()
router.register("appointments/availability", AvailabilityViewSet, basename="availability")
router.register("appointments/schedules", ScheduleViewSet, basename="schedule")
router.register("appointments", AppointmentViewSet, basename="appointment")

urlpatterns = router.urls
