"""Addresses of the organizations app."""

from django.urls import URLPattern, URLResolver, include, path

from api.routing import Router

from .views.jobs import JobViewSet
from .views.keys import ApiKeyViewSet, SupplierApiKeyViewSet
from .views.limits import RateLimitsViewSet
from .views.locations import LocationViewSet
from .views.me import MeViewSet
from .views.memberships import MembershipViewSet
from .views.settings import ConfigurationViewSet, EntitlementViewSet
from .views.supplier_users import SupplierUserViewSet
from .views.tenants import TenantViewSet
from .views.tree import ChildOrganizationViewSet, OrganizationTenantViewSet, OrganizationViewSet

router = Router()
router.register("me", MeViewSet, basename="me")
router.register("organizations", OrganizationViewSet, basename="organization")
router.register("organizations/<uuid:pk>/children", ChildOrganizationViewSet, basename="child-organization")
router.register("organizations/<uuid:pk>/tenants", OrganizationTenantViewSet, basename="organization-tenant")
router.register("tenants", TenantViewSet, basename="tenant")
router.register("tenants/<uuid:pk>/configuration", ConfigurationViewSet, basename="configuration")
router.register("tenants/<uuid:pk>/entitlements", EntitlementViewSet, basename="entitlement")
router.register("memberships", MembershipViewSet, basename="membership")
router.register("api-keys", ApiKeyViewSet, basename="api-key")
router.register("suppliers/me/api-keys", SupplierApiKeyViewSet, basename="supplier-api-key")
router.register("suppliers/me/users", SupplierUserViewSet, basename="supplier-user")
router.register("locations", LocationViewSet, basename="location")
router.register("jobs", JobViewSet, basename="job")
router.register("production-onboarding/rate-limits", RateLimitsViewSet, basename="rate-limits")

urlpatterns: list[URLPattern | URLResolver] = [
    path("v1/auth/", include("organizations.signin.urls")),
    path("", include("organizations.oauth.urls")),
    path("v1/", include(router.urls)),
]
