"""The same built the usual way: simplejwt, an ORM membership query, a limiter of two trips, ORM and ModelSerializer.

Mounted by `bench.stock_settings` only, beside a bare "hello", so that the product can be held against both.
"""

import hashlib
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.timezone import now
from rest_framework import generics, permissions, serializers, throttling
from rest_framework.pagination import PageNumberPagination
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from api.models import IdempotencyRecord
from fhir_api.resources.types import NUMBERS
from ledger.models import Event
from organizations.models import Membership
from suppliers.catalog.models import Packaging, Product, ProductCounter

from . import prescriptions_bare

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


_NOTE_AND_READ = """
WITH found AS (SELECT body FROM fhir_api_resource WHERE tenant_id = %(tenant)s AND type = %(number)s AND fhir_id = %(id)s),
noted AS (
  INSERT INTO fhir_api_accessrecord (created_at, id, tenant_id, subject_id, subject_kind, credential, request_id,
    interaction, resource_type, resource_id, parameters, patients, count, outcome, reason)
  SELECT clock_timestamp(), uuidv7(), %(tenant)s, %(tenant)s, 'user', 'bench', '', 'read', %(type)s, %(id)s, '{}',
    ARRAY[split_part(body::jsonb #>> '{subject,reference}', '/', 2)], 1, 200, '' FROM found
  RETURNING created_at, id, tenant_id, patients),
whose AS (
  INSERT INTO fhir_api_accesspatient (created_at, id, tenant_id, patient)
  SELECT created_at, id, tenant_id, unnest(patients) FROM noted)
SELECT body FROM found
"""


def recorded_resource(request: HttpRequest, tenant: UUID, type_name: str, fhir_id: str) -> HttpResponse:
    """The same with the record of a read that the platform owes, in one durable statement."""
    with connection.cursor() as cursor:
        given = {"tenant": tenant, "type": type_name, "number": NUMBERS[type_name], "id": fhir_id}
        cursor.execute(_NOTE_AND_READ, given)
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


class NewProductSerializer(ProductSerializer):
    """A new product with its packagings; it stays a draft, since state fields cannot be written."""

    packagings = PackagingSerializer(many=True)

    class Meta(ProductSerializer.Meta):
        read_only_fields = ("status",)

    def create(self, validated_data: dict[str, Any]) -> Product:
        """Save one row after the other."""
        packagings = validated_data.pop("packagings")
        product = Product.objects.create(**validated_data)
        for position, one in enumerate(packagings):
            Packaging.objects.create(product=product, tenant_id=product.tenant_id, position=position, **one)
        return product


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


class ProductList(_Products, generics.ListCreateAPIView[Product]):
    """GET and POST /stock/products."""

    pagination_class = Pages

    def create(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """Create with the key, the fact and the kept answer in one transaction; nothing else of what ours does."""
        tenant_id = request.membership.tenant_id
        caller = {"tenant_id": tenant_id, "subject_id": request.user.id}
        serializer = NewProductSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with transaction.atomic():
            fingerprint = hashlib.sha256(repr(request.data).encode()).hexdigest()
            key = IdempotencyRecord.objects.create(
                **caller, key=request.headers["Idempotency-Key"], fingerprint=fingerprint
            )
            product = serializer.save(tenant_id=tenant_id)
            Event.objects.create(
                **caller, type="product.created", resource_type="product", resource_id=product.id, subject_kind="user",
                credential="stock", membership_id=request.membership.id, occurred_at=now(), data={"status": product.status},
            )  # fmt: skip
            # Kept for our list's total, not for this one's.
            ProductCounter.objects.filter(tenant_id=tenant_id).update(draft=F("draft") + 1)
            answer = {"success": True, "data": ProductSerializer(product).data}
            key.status, key.answer = 201, JSONRenderer().render(answer)
            key.save(update_fields=["status", "answer"])
        return Response(answer, status=201)

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
    path("recorded/<uuid:tenant>/<type_name>/<fhir_id>", recorded_resource),
    path("stock/products", ProductList.as_view()),
    path("stock/products/<uuid:pk>", ProductOne.as_view()),
    *prescriptions_bare.urlpatterns,
]
