"""The same list built the usual way: simplejwt, an ORM membership query, a limiter of two trips, ORM and ModelSerializer.

Mounted by `bench.stock_settings` only, beside a bare "hello", so that the product can be held against both.
"""

from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.urls import path
from rest_framework import generics, permissions, serializers, throttling
from rest_framework.pagination import PageNumberPagination
from rest_framework.response import Response

from fhir_api.types import NUMBERS
from organizations.models import Membership
from suppliers.catalog.models import Packaging, Product

LIMIT = 1_000_000_000


def hello(request: HttpRequest) -> HttpResponse:
    """Answer a constant."""
    return HttpResponse(b'{"success":true,"data":"hello"}', content_type="application/json")


def resource(request: HttpRequest, tenant: UUID, type_name: str, fhir_id: str) -> HttpResponse:
    """Answer the stored bytes of a FHIR resource to whoever asks: no credential, no limit, no record, one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT body FROM fhir_api_resource WHERE tenant_id = %s AND type = %s AND fhir_id = %s",
            [tenant, NUMBERS[type_name], fhir_id],
        )
        (body,) = cursor.fetchone()
    return HttpResponse(body, content_type="application/fhir+json")


class IsMember(permissions.BasePermission):
    """An active membership in the tenant of the header, whose role holds the scope."""

    def has_permission(self, request: Any, view: Any) -> bool:
        """Ask through the ORM."""
        found = Membership.objects.select_related("tenant").filter(
            user_id=request.user.id,
            tenant_id=request.headers.get("X-Tenant-Id"),
            status="active",
            tenant__status="active",
        )
        request.membership = found.first()
        return request.membership is not None and "supplier_admin" in request.membership.roles


class PerUser(throttling.BaseThrottle):
    """A fixed window in two trips: count, then look what is left."""

    def allow_request(self, request: Any, view: Any) -> bool:
        """Count one request."""
        key = f"stock:{request.user.id}"
        try:
            count = cache.incr(key)
        except ValueError:
            cache.set(key, 1, 60)
            count = 1
        request.remaining = LIMIT - int(cache.get(key, count))
        return count <= LIMIT


class PackagingSerializer(serializers.ModelSerializer[Packaging]):
    """A packaging as the platform shows it."""

    class Meta:
        model = Packaging
        fields = (
            "id", "level", "name", "units_per_pack", "gtin", "orderable", "min_order_quantity", "order_increment",
            "max_order_quantity", "gross_weight_g", "length_mm", "width_mm", "height_mm",
        )  # fmt: skip


class ProductSerializer(serializers.ModelSerializer[Product]):
    """A product as the platform shows it."""

    packagings = PackagingSerializer(many=True, read_only=True)
    storage = serializers.SerializerMethodField()
    media = serializers.SerializerMethodField()

    class Meta:
        model = Product
        fields = (
            "id", "supplier_sku", "name", "description", "category", "kind", "status", "brand", "manufacturer_name",
            "manufacturer_part_number", "base_unit", "packagings", "udi", "national_codes", "classifications", "tracking",
            "expiry_required", "shelf_life_days", "min_remaining_shelf_life_days", "storage", "controlled", "hazardous",
            "prescription_only", "substitutes", "tax_category", "country_of_origin", "lead_time_days", "attributes", "media",
            "availability", "created_at", "updated_at", "version",
        )  # fmt: skip

    def get_storage(self, product: Product) -> dict[str, Any] | None:
        """How it is stored, if that is known."""
        if product.storage_light_sensitive is None:
            return None
        coldest, warmest = product.storage_min_c, product.storage_max_c
        return {"min_c": coldest, "max_c": warmest, "light_sensitive": product.storage_light_sensitive}

    def get_media(self, product: Product) -> list[Any]:
        """There are none yet."""
        return []


class Pages(PageNumberPagination):
    """The platform's envelope."""

    page_size = 20
    page_size_query_param = "limit"

    def get_paginated_response(self, data: Any) -> Response:
        """Answer the page with its exact total."""
        assert self.page is not None
        inner = {"items": data, "page": self.page.number, "limit": 20, "total": self.page.paginator.count}
        return Response({"success": True, "data": inner})


class _Products:
    """What both views share."""

    request: Any
    serializer_class = ProductSerializer
    permission_classes = (IsMember,)
    throttle_classes = (PerUser,)

    def get_queryset(self) -> Any:
        """The tenant's products, their packagings in a second query."""
        rows = Product.objects.filter(tenant_id=self.request.membership.tenant_id, archived_at=None)
        return rows.prefetch_related("packagings")

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Show the limit."""
        response = super().finalize_response(request, response, *args, **kwargs)  # type: ignore[misc]
        response.headers["RateLimit-Remaining"] = str(getattr(request, "remaining", ""))
        return response


class ProductList(_Products, generics.ListAPIView[Product]):
    """GET /stock/products."""

    pagination_class = Pages

    def get_queryset(self) -> Any:
        """Sorted."""
        order = "-updated_at" if self.request.GET.get("sort") == "-updated_at" else "-created_at"
        return super().get_queryset().order_by(order, "-id")


class ProductOne(_Products, generics.RetrieveAPIView[Product]):
    """GET /stock/products/{pk}."""


urlpatterns = [
    path("health/live", hello),
    path("hello", hello),
    path("stock/<uuid:tenant>/<type_name>/<fhir_id>", resource),
    path("stock/products", ProductList.as_view()),
    path("stock/products/<uuid:pk>", ProductOne.as_view()),
]
