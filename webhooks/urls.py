"""Addresses of the webhooks app, below /v1/."""

from django.urls import path

from .figures.views import FiguresViewSet
from .keys.views import SecretViewSet
from .reference.views import ReferenceViewSet
from .replays.views import ReplayViewSet
from .sampling.views import SampleViewSet
from .views import DeliveryViewSet, EndpointViewSet, EventViewSet

urlpatterns = [
    path("webhooks", EndpointViewSet.as_view({"get": "list", "post": "create"})),
    path("webhooks/event-types", ReferenceViewSet.as_view({"get": "event_types"})),
    path("webhooks/meta", ReferenceViewSet.as_view({"get": "meta"})),
    path(
        "webhooks/<uuid:pk>",
        EndpointViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("webhooks/<uuid:pk>/test", SampleViewSet.as_view({"post": "test"})),
    path("webhooks/<uuid:pk>/stats", FiguresViewSet.as_view({"get": "stats"})),
    path("webhooks/<uuid:pk>/replay", ReplayViewSet.as_view({"post": "replay"})),
    path("webhooks/<uuid:pk>/replays", ReplayViewSet.as_view({"get": "list"})),
    path("webhooks/<uuid:pk>/replays/<uuid:replay_id>", ReplayViewSet.as_view({"get": "retrieve"})),
    path("webhooks/<uuid:pk>/replays/<uuid:replay_id>/cancel", ReplayViewSet.as_view({"post": "cancel"})),
    path("webhooks/<uuid:pk>/rotate-secret", SecretViewSet.as_view({"post": "rotate_secret"})),
    path("webhooks/<uuid:pk>/secrets", SecretViewSet.as_view({"get": "secrets"})),
    path("webhooks/<uuid:pk>/secrets/<uuid:secret_id>", SecretViewSet.as_view({"delete": "revoke_secret"})),
    path("webhooks/<uuid:pk>/deliveries", DeliveryViewSet.as_view({"get": "deliveries"})),
    path("webhooks/<uuid:pk>/deliveries/<uuid:delivery_id>", DeliveryViewSet.as_view({"get": "delivery"})),
    path("webhooks/<uuid:pk>/deliveries/<uuid:delivery_id>/redeliver", DeliveryViewSet.as_view({"post": "redeliver"})),
    path("events", EventViewSet.as_view({"get": "list"})),
]
