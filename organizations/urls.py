"""Addresses of the organizations app."""

from django.urls import URLPattern, URLResolver, include, path

from .views.jobs import JobViewSet
from .views.keys import ApiKeyViewSet
from .views.limits import RateLimitsViewSet
from .views.locations import LocationViewSet
from .views.me import MeViewSet
from .views.memberships import MembershipViewSet
from .views.settings import ConfigurationViewSet, EntitlementViewSet
from .views.tenants import TenantViewSet
from .views.tree import OrganizationViewSet

_tenancy: list[URLPattern | URLResolver] = [
    path("v1/organizations", OrganizationViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/organizations/<uuid:pk>", OrganizationViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path("v1/organizations/<uuid:pk>/children", OrganizationViewSet.as_view({"get": "children"})),
    path("v1/organizations/<uuid:pk>/tenants", OrganizationViewSet.as_view({"get": "tenants"})),
    path("v1/tenants", TenantViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/tenants/<uuid:pk>", TenantViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path("v1/memberships", MembershipViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/memberships/<uuid:pk>", MembershipViewSet.as_view({"patch": "partial_update", "delete": "destroy"})),
    path("v1/api-keys", ApiKeyViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/api-keys/<uuid:pk>", ApiKeyViewSet.as_view({"delete": "destroy"})),
    path("v1/me", MeViewSet.as_view({"get": "retrieve"})),
]

_settings: list[URLPattern | URLResolver] = [
    path("v1/locations", LocationViewSet.as_view({"get": "list", "post": "create"})),
    path("v1/locations/<uuid:pk>", LocationViewSet.as_view({"get": "retrieve", "patch": "partial_update"})),
    path(
        "v1/tenants/<uuid:pk>/configuration",
        ConfigurationViewSet.as_view({"get": "retrieve", "patch": "partial_update"}),
    ),
    path("v1/tenants/<uuid:pk>/entitlements", EntitlementViewSet.as_view({"get": "retrieve"})),
    path("v1/production-onboarding/rate-limits", RateLimitsViewSet.as_view({"get": "list"})),
    path("v1/jobs/<uuid:pk>", JobViewSet.as_view({"get": "retrieve"})),
]

_identity: list[URLPattern | URLResolver] = [
    path("v1/auth/", include("organizations.signin.urls")),
    path("", include("organizations.oauth.urls")),
]

urlpatterns: list[URLPattern | URLResolver] = [*_identity, *_tenancy, *_settings]
