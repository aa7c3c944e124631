"""Addresses of the webhooks app, below /v1/."""

from django.urls import path

from .views import EndpointViewSet, EventViewSet

urlpatterns = [
    path("webhooks", EndpointViewSet.as_view({"get": "list", "post": "create"})),
    path("webhooks/event-types", EndpointViewSet.as_view({"get": "event_types"})),
    path(
        "webhooks/<uuid:pk>",
        EndpointViewSet.as_view({"get": "retrieve", "patch": "partial_update", "delete": "destroy"}),
    ),
    path("webhooks/<uuid:pk>/deliveries", EndpointViewSet.as_view({"get": "deliveries"})),
    path("webhooks/<uuid:pk>/deliveries/<uuid:delivery_id>", EndpointViewSet.as_view({"get": "delivery"})),
    path("webhooks/<uuid:pk>/rotate-secret", EndpointViewSet.as_view({"post": "rotate_secret"})),
    path("events", EventViewSet.as_view({"get": "list"})),
]
