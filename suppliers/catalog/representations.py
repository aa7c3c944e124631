"""Products and categories as clients read them."""

from django.db.models import Q
from rest_framework import serializers

from api.representations import Computed, Document, Instant, OpenChoice, Representation
from suppliers.files.representations import media_of, media_tag

from .attributes.serializers import AttributeIn
from .category_tree import COUNTED
from .models import Packaging, PlatformCategory, Product
from .serializers import (
    CategoryIn,
    ClassificationsIn,
    ControlledIn,
    HazardousIn,
    NationalCodeIn,
    PackagingIn,
    ProductIn,
    SubstituteIn,
    UdiIn,
)
from .states import Availability, PackagingState


class PackagingOut(Representation):
    """One packaging of a product; `gtin` has 14 digits."""

    class Meta:
        model = Packaging
        fields = (
            "id", "level", "name", "units_per_pack", "gtin", "orderable", "min_order_quantity", "order_increment",
            "max_order_quantity", "gross_weight_g", "length_mm", "width_mm", "height_mm",
        )  # fmt: skip
        blank_as_null = ("name",)
        example = PackagingIn.Meta.example


class StorageOut(Representation):
    """Storage conditions of a product, with temperatures in degrees Celsius."""

    min_c = serializers.FloatField(source="storage_min_c")
    max_c = serializers.FloatField(source="storage_max_c")
    light_sensitive = serializers.BooleanField(source="storage_light_sensitive")
    cold_chain = Computed("coalesce(t.storage_max_c <= 8, false)", serializers.BooleanField())

    class Meta:
        model = Product
        fields = ("min_c", "max_c", "light_sensitive", "cold_chain")


class ProductHoldOut(Representation):
    """Since when and why the platform holds the product off the market; the supplier cannot make it active meanwhile."""

    since = Instant(source="held_at")
    reason = serializers.CharField(source="hold_reason")

    class Meta:
        model = Product
        version = None
        fields = ("since", "reason")


class ProductOut(Representation):
    """A product of the catalog, without prices and stock."""

    packagings = PackagingOut(
        many=True, by="product", where=~Q(state=PackagingState.REMOVED), ordering=("position", "id")
    )
    storage = StorageOut(when=Q(storage_light_sensitive__isnull=False))
    hold = ProductHoldOut(when=Q(held_at__isnull=False))
    udi = Document(UdiIn())
    national_codes = Document(NationalCodeIn(many=True))
    classifications = Document(ClassificationsIn())
    controlled = Document(ControlledIn())
    hazardous = Document(HazardousIn())
    substitutes = Document(SubstituteIn(many=True))
    attributes = Document(AttributeIn(many=True))
    media = media_of("product")

    class Meta:
        model = Product
        fields: tuple[str, ...] = (
            "id", "supplier_sku", "name", "description", "category", "kind", "status", "brand", "manufacturer_name",
            "manufacturer_part_number", "base_unit", "packagings", "udi", "national_codes", "classifications", "tracking",
            "expiry_required", "shelf_life_days", "min_remaining_shelf_life_days", "storage", "controlled", "hazardous",
            "prescription_only", "substitutes", "tax_category", "country_of_origin", "lead_time_days", "attributes", "media",
            "availability", "hold", "created_at", "updated_at", "version",
        )  # fmt: skip
        blank_as_null = ("brand", "manufacturer_name", "manufacturer_part_number", "tax_category", "country_of_origin")
        unversioned = (
            f"nullif(concat_ws('.', nullif(t.availability, '{Availability.UNAVAILABLE}'), {media_tag('product')}), '')"
        )
        example = {name: value for name, value in ProductIn.Meta.example.items() if name != "packagings"}


class CategoryMappings(serializers.Serializer[None]):
    """Codes of other taxonomies, where there are any."""

    unspsc = serializers.CharField(required=False)
    emdn = serializers.CharField(required=False)
    atc = serializers.CharField(required=False)


class CategoryOut(Representation):
    """A category of the platform's tree, or one of the tenant's own."""

    depth = Computed("t.depth", serializers.IntegerField(help_text="1 for a root"))
    source = Computed("t.source", OpenChoice(choices=("platform", "own")))  # type: ignore[assignment]  # a member
    mappings = Document(CategoryMappings())
    product_count = Computed(
        "t.product_count",
        serializers.IntegerField(
            help_text="Products of the tenant in the category and its descendants, without archived ones."
        ),
    )

    class Meta:
        model = PlatformCategory
        rows = COUNTED
        tenant_column = "tenant_id"
        fields = (
            "id", "code", "name", "parent_id", "depth", "source", "mappings", "active", "product_count", "created_at",
            "updated_at", "version",
        )  # fmt: skip
        example = {**CategoryIn.Meta.example, "depth": 3, "source": "own"}
