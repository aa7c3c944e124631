"""Addresses of the webhooks app, below /v1/."""

from api.routing import Router

from .figures.views import FiguresViewSet
from .keys.views import RotationViewSet, SecretViewSet
from .reference.views import ReferenceViewSet
from .replays.views import ReplayRequestViewSet, ReplayViewSet
from .sampling.views import SampleViewSet
from .views import DeliveryViewSet, EndpointViewSet, EventViewSet

router = Router()
router.register("webhooks", EndpointViewSet, basename="webhook")
router.register("webhooks", ReferenceViewSet, basename="webhook-reference")
router.register("webhooks", SampleViewSet, basename="webhook-sample")
router.register("webhooks", RotationViewSet, basename="webhook-rotation")
router.register("webhooks", ReplayRequestViewSet, basename="webhook-replay-request")
router.register("webhooks/<uuid:pk>/stats", FiguresViewSet, basename="webhook-stats")
router.register("webhooks/<uuid:pk>/replays", ReplayViewSet, basename="webhook-replay")
router.register("webhooks/<uuid:pk>/secrets", SecretViewSet, basename="webhook-secret")
router.register("webhooks/<uuid:pk>/deliveries", DeliveryViewSet, basename="webhook-delivery")
router.register("events", EventViewSet, basename="event")
urlpatterns = router.urls
