"""Addresses of the organizations app."""

from django.urls import URLPattern, URLResolver, path

from .views.jobs import JobViewSet
from .views.limits import RateLimitsViewSet
from .views.locations import LocationViewSet
from .views.settings import ConfigurationViewSet, EntitlementViewSet

_settings: list[URLPattern | URLResolver] = [
    path("v1/locations", LocationViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/locations/<uuid:pk>", LocationViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path("v1/tenants/<uuid:pk>/configuration", ConfigurationViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path("v1/tenants/<uuid:pk>/entitlements", EntitlementViewSet.as_view({"get": "retrieve"})),
    path("v1/production-onboarding/rate-limits", RateLimitsViewSet.as_view({"get": "list"})),
    path("v1/jobs/<uuid:pk>", JobViewSet.as_view({"get": "retrieve"})),
]

urlpatterns: list[URLPattern | URLResolver] = [*_settings]
