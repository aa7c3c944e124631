"""Tables of the catalog: products, their packagings, search terms and counters, and categories."""

from dataclasses import replace
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now
from django_fsm import FSMField

from core.clock import now
from core.ids import uuid7
from core.lifecycle import LifecycleModel, transition
from core.row_security import REFERENCE, Market, TableSecurity
from core.tenant_rows import TenantRow
from core.versioned import Versioned
from organizations.public import TenantOwned

from .refusals import AttributeCodeTaken, CategoryCodeTaken, GtinTaken, SkuTaken
from .states import DAYS_MAX, AttributeType, Availability, Kind, PackagingLevel, PackagingState, Status, Tracking

_LIVE = Q(archived_at__isnull=True)
_GONE = Q(archived_at__isnull=False)
_MARKET = Q(on_market=True)


class Product(TenantOwned, LifecycleModel):
    """A product of a supplier, identified by the supplier's SKU.

    `archived_at` is set exactly when the status is `archived`; the partial indexes of the lists use it.
    `offered` says that an offer of it is published; it is `on_market` while it is active, too (`catalog.market`).
    While staff hold it, since `held_at` and for `hold_reason`, it is not active.
    `stock_moved_at` is set by the first stock movement and locks the base unit, the units per pack and the tracking.
    Personal data: none.
    """

    supplier_sku = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    name_sort = models.GeneratedField(expression=Lower("name"), output_field=models.TextField(), db_persist=True)
    description = models.TextField(blank=True, default="")
    category = models.CharField(max_length=64)
    kind = models.CharField(max_length=12, choices=Kind)
    status = FSMField(default=Status.DRAFT.value, choices=Status, protected=True, max_length=12)
    brand = models.CharField(max_length=120, blank=True, default="")
    manufacturer_name = models.CharField(max_length=255, blank=True, default="")
    manufacturer_part_number = models.CharField(max_length=80, blank=True, default="")
    base_unit = models.CharField(max_length=3)
    udi = models.JSONField(null=True)
    national_codes = models.JSONField(default=list)
    classifications = models.JSONField(default=dict)
    tracking = models.CharField(max_length=14, choices=Tracking, default=Tracking.NONE)
    expiry_required = models.BooleanField(default=False)
    shelf_life_days = models.PositiveIntegerField(null=True)
    min_remaining_shelf_life_days = models.PositiveIntegerField(null=True)
    storage_min_c = models.DecimalField(max_digits=4, decimal_places=1, null=True)
    storage_max_c = models.DecimalField(max_digits=4, decimal_places=1, null=True)
    storage_light_sensitive = models.BooleanField(null=True)
    controlled = models.JSONField(null=True)
    hazardous = models.JSONField(null=True)
    prescription_only = models.BooleanField(default=False)
    substitutes = models.JSONField(default=list)
    tax_category = models.CharField(max_length=20, blank=True, default="")
    country_of_origin = models.CharField(max_length=2, blank=True, default="")
    lead_time_days = models.PositiveIntegerField(null=True)
    attributes = models.JSONField(default=list)
    availability = models.CharField(max_length=12, choices=Availability, default=Availability.UNAVAILABLE)
    archived_at = models.DateTimeField(null=True)
    held_at = models.DateTimeField(null=True)
    hold_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    stock_moved_at = models.DateTimeField(null=True)
    offered = models.BooleanField(default=False, db_default=False)
    on_market = models.GeneratedField(
        expression=Q(status=Status.ACTIVE.value, offered=True),  # type: ignore[arg-type]  # a Q is an expression
        output_field=models.BooleanField(),
        db_persist=True,
    )

    WRITABLE: ClassVar = (
        "supplier_sku", "name", "description", "category", "kind", "brand", "manufacturer_name",
        "manufacturer_part_number", "base_unit", "udi", "national_codes", "classifications", "tracking",
        "expiry_required", "shelf_life_days", "min_remaining_shelf_life_days", "storage_min_c", "storage_max_c",
        "storage_light_sensitive", "controlled", "hazardous", "prescription_only", "substitutes", "tax_category",
        "country_of_origin", "lead_time_days", "attributes",
    )  # fmt: skip
    unversioned: ClassVar = ("availability", "stock_moved_at", "offered", "on_market")
    refusals: ClassVar = {"suppliers_product_sku_taken": SkuTaken}
    security: ClassVar = TableSecurity(market=Market(when="on_market"))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "supplier_sku"], condition=_LIVE, name="suppliers_product_sku_taken"
            ),
            models.CheckConstraint(
                condition=Q(status=Status.ARCHIVED, archived_at__isnull=False)
                | (~Q(status=Status.ARCHIVED) & Q(archived_at__isnull=True)),
                name="suppliers_product_archived_at",
            ),
            models.CheckConstraint(condition=Q(status__in=Status.values), name="suppliers_product_status_known"),
            models.CheckConstraint(
                condition=Q(held_at__isnull=True) | ~Q(status=Status.ACTIVE), name="suppliers_product_held_off_market"
            ),
            models.CheckConstraint(
                condition=Q(storage_min_c__isnull=True)
                | Q(storage_max_c__isnull=True)
                | Q(storage_min_c__lt=F("storage_max_c")),
                name="suppliers_product_storage_range",
            ),
            models.CheckConstraint(
                condition=Q(min_remaining_shelf_life_days__range=(0, DAYS_MAX)), name="suppliers_product_rest_days"
            ),
        ]
        # One for each sort and filter, the tenant first and the key last; a backward scan serves the other direction.
        indexes = [
            models.Index(
                fields=["tenant", "min_remaining_shelf_life_days"],
                condition=Q(min_remaining_shelf_life_days__gt=0),
                name="suppliers_product_least_rest",
            ),
            models.Index(fields=["tenant", "created_at", "id"], condition=_LIVE, name="suppliers_product_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], condition=_LIVE, name="suppliers_product_by_updated"),
            models.Index(fields=["tenant", "name_sort", "id"], condition=_LIVE, name="suppliers_product_by_name"),
            models.Index(
                fields=["tenant", "category", "created_at", "id"], condition=_LIVE, name="suppliers_product_category"
            ),
            models.Index(
                fields=["tenant", "availability", "created_at", "id"],
                condition=_LIVE,
                name="suppliers_product_available",
            ),
            models.Index(
                fields=["tenant", "category", "availability", "created_at", "id"],
                condition=_LIVE,
                name="suppliers_product_cat_avail",
            ),
            models.Index(
                fields=["tenant", "status", "created_at", "id"], condition=_LIVE, name="suppliers_product_by_status"
            ),
            models.Index(fields=["tenant", "created_at", "id"], condition=_GONE, name="suppliers_product_archived"),
            # What buyers see, of all suppliers: only the market's role reads by these.
            models.Index(fields=["created_at", "id"], condition=_MARKET, name="suppliers_market_by_created"),
            models.Index(fields=["updated_at", "id"], condition=_MARKET, name="suppliers_market_by_updated"),
            models.Index(fields=["name_sort", "id"], condition=_MARKET, name="suppliers_market_by_name"),
            # The same of one supplier, few of whose products may be on the market.
            models.Index(fields=["tenant", "created_at", "id"], condition=_MARKET, name="suppliers_market_of_supplier"),
        ]

    def __str__(self) -> str:
        return f"{self.supplier_sku} {self.name}"

    @transition(field=status, source=[Status.DRAFT.value, Status.DISCONTINUED.value], target=Status.ACTIVE.value)
    def activate(self) -> None:
        """Put the product on sale."""

    @transition(field=status, source=Status.ACTIVE.value, target=Status.DISCONTINUED.value)
    def discontinue(self) -> None:
        """Stop selling the product."""

    @transition(
        field=status,
        source=[Status.DRAFT.value, Status.ACTIVE.value, Status.DISCONTINUED.value],
        target=Status.ARCHIVED.value,
    )
    def archive(self, at: Any) -> None:
        """Archive the product for good; its row stays for traceability."""
        self.archived_at = at


class Packaging(TenantOwned):
    """A packaging of a product: a number of base units, with its own GTIN.

    The row of a removed packaging stays, because prices and documents refer to it. GTINs are stored with 14 digits.
    `on_market` is the product's.
    Personal data: none.
    """

    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="packagings", db_constraint=False, db_index=False
    )
    position = models.PositiveSmallIntegerField()
    level = models.CharField(max_length=6, choices=PackagingLevel)
    name = models.CharField(max_length=120, blank=True, default="")
    units_per_pack = models.PositiveBigIntegerField()
    gtin = models.CharField(max_length=14, null=True)
    orderable = models.BooleanField(default=True)
    min_order_quantity = models.PositiveIntegerField(default=1)
    order_increment = models.PositiveIntegerField(default=1)
    max_order_quantity = models.PositiveIntegerField(null=True)
    gross_weight_g = models.PositiveIntegerField(null=True)
    length_mm = models.PositiveIntegerField(null=True)
    width_mm = models.PositiveIntegerField(null=True)
    height_mm = models.PositiveIntegerField(null=True)
    state = models.CharField(max_length=8, choices=PackagingState, default=PackagingState.CURRENT)
    on_market = models.BooleanField(default=False, db_default=False)

    WRITABLE: ClassVar = (
        "level", "name", "units_per_pack", "gtin", "orderable", "min_order_quantity", "order_increment",
        "max_order_quantity", "gross_weight_g", "length_mm", "width_mm", "height_mm", "position",
    )  # fmt: skip
    unversioned: ClassVar = ("on_market",)
    refusals: ClassVar = {"suppliers_packaging_gtin_taken": GtinTaken}
    security: ClassVar = TableSecurity(market=Market(when="on_market"))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "gtin"],
                condition=Q(gtin__isnull=False, state=PackagingState.CURRENT),
                name="suppliers_packaging_gtin_taken",
            ),
            models.CheckConstraint(
                condition=Q(units_per_pack__gte=1, min_order_quantity__gte=1, order_increment__gte=1),
                name="suppliers_packaging_quantities",
            ),
            models.CheckConstraint(
                condition=Q(max_order_quantity__isnull=True) | Q(max_order_quantity__gte=F("min_order_quantity")),
                name="suppliers_packaging_maximum",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "product", "position"], name="suppliers_packaging_of_product"),
            # Of all suppliers: for the market's search, and for the staff who compare catalogs.
            models.Index(
                fields=["gtin", "tenant"],
                condition=Q(gtin__isnull=False, state=PackagingState.CURRENT),
                name="suppliers_packaging_by_gtin",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.level} of {self.units_per_pack}"


class ProductWord(TenantRow):
    """A search term of a product. The primary key alone answers a search; a GIN index could not under row security.

    Words are compared byte by byte (collation C), so that a prefix is a range of the key. There is no foreign key:
    products are never deleted, and a check for each word would double the cost of creating a product.
    Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "word", "product_id")
    tenant_id = models.UUIDField()
    word = models.CharField(max_length=64, db_collation="C")
    product_id = models.UUIDField()

    security: ClassVar = TableSecurity()

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "product_id"], name="suppliers_productword_of")]

    def __str__(self) -> str:
        return self.word


class MarketWord(TenantRow):
    """A search term of a product on the market, for one audience that sees an offer of it; the empty word stands for the product.

    Kept by `catalog.market`. The market's role searches it by audience. Personal data: none.
    """

    pk = models.CompositePrimaryKey("audience_id", "word", "tenant_id", "product_id")
    audience_id = models.UUIDField()
    word = models.CharField(max_length=64, db_collation="C")
    tenant_id = models.UUIDField()
    product_id = models.UUIDField()

    security: ClassVar = TableSecurity(market=Market())

    class Meta:
        indexes = [models.Index(fields=["tenant_id", "product_id", "word"], name="suppliers_marketword_of")]

    def __str__(self) -> str:
        return self.word


class ProductCounter(TenantRow):
    """The number of a tenant's products in each status, updated in the transaction that changes the products.

    Personal data: none.
    """

    tenant_id = models.UUIDField(primary_key=True)
    draft = models.PositiveBigIntegerField(default=0)
    active = models.PositiveBigIntegerField(default=0)
    discontinued = models.PositiveBigIntegerField(default=0)
    archived = models.PositiveBigIntegerField(default=0)

    security: ClassVar = TableSecurity()

    def __str__(self) -> str:
        return f"{self.draft + self.active + self.discontinued} products"


class PlatformCategory(Versioned):
    """A category of the platform, for every supplier. Seeded from `taxonomy`; its codes in other taxonomies are the staff's.

    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    code = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    position = models.PositiveIntegerField()
    mappings = models.JSONField(default=dict)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    WRITABLE: ClassVar = ("mappings",)
    security: ClassVar = replace(REFERENCE, market=Market())

    class Meta:
        verbose_name_plural = "platform categories"
        constraints = [
            models.CheckConstraint(condition=~Q(parent=F("id")), name="suppliers_platformcategory_not_own_parent")
        ]

    def __str__(self) -> str:
        return self.code


class Category(TenantOwned):
    """A supplier's own category; `parent_id` names a platform category or another category of the supplier.

    Personal data: none.
    """

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=120)
    parent_id = models.UUIDField()
    mappings = models.JSONField(default=dict)
    active = models.BooleanField(default=True)

    WRITABLE: ClassVar = ("code", "name", "parent_id", "mappings", "active")
    security: ClassVar = TableSecurity(market=Market(when="active"))
    refusals: ClassVar = {"suppliers_category_code_taken": CategoryCodeTaken}

    class Meta:
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "code"], name="suppliers_category_code_taken"),
            models.CheckConstraint(condition=~Q(parent_id=F("id")), name="suppliers_category_not_own_parent"),
        ]
        indexes = [models.Index(fields=["tenant", "parent_id"], name="suppliers_category_by_parent")]

    def __str__(self) -> str:
        return self.code


class AttributeDefinition(Versioned):
    """What values an attribute of products takes, for every supplier; defined by staff.

    `unit` is a code of UCUM. Without one, each value of a quantity names its own. Products of the categories
    `required_for`, and of those below them, need a value before they can be active.
    Personal data: none.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    code = models.CharField(max_length=64)
    name = models.CharField(max_length=120)
    type = models.CharField(max_length=8, choices=AttributeType)
    unit = models.CharField(max_length=20, blank=True, default="")
    allowed_values = ArrayField(models.CharField(max_length=120), default=list, blank=True)
    required_for = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    localizable = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=now, db_default=Now(), editable=False)

    WRITABLE: ClassVar = ("name", "allowed_values", "required_for", "active")
    refusals: ClassVar = {"suppliers_attributedefinition_code_taken": AttributeCodeTaken}
    security: ClassVar = REFERENCE

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["code"], name="suppliers_attributedefinition_code_taken"),
            models.CheckConstraint(
                condition=Q(type__in=AttributeType.values), name="suppliers_attributedefinition_type_known"
            ),
            models.CheckConstraint(
                condition=Q(type=AttributeType.ENUM) ^ Q(allowed_values=[]),
                name="suppliers_attributedefinition_choices",
            ),
            models.CheckConstraint(
                condition=Q(localizable=False) | Q(type=AttributeType.TEXT),
                name="suppliers_attributedefinition_locale",
            ),
        ]

    def __str__(self) -> str:
        return self.code
