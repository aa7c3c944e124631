"""Tables of terms: price lists and their entries, and pricing rules."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from core.row_security import Market, TableSecurity
from organizations.public import TenantOwned
from suppliers.catalog.models import Packaging, Product
from suppliers.marketplace.states import EVERYBODY

from .states import ActionType, Scope, TermStatus

MOST_PRIORITY = 1_000


class PriceList(TenantOwned):
    """Unit prices of one currency for some or all buyers, under the supplier's own code.

    `audience_id` names the buyers: zeros for everybody, else an `Audience` of the scope's kind. The validity is half-open,
    `[valid_from, valid_to)`; null sets no limit. Personal data: none.
    """

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=8, choices=TermStatus, default=TermStatus.DRAFT.value)
    valid_from = models.DateField(null=True)
    valid_to = models.DateField(null=True)
    priority = models.PositiveIntegerField(default=0)
    scope = models.CharField(max_length=13, choices=Scope, default=Scope.PUBLIC.value)
    audience_id = models.UUIDField(default=EVERYBODY)
    entry_count = models.PositiveIntegerField(default=0)
    on_market = models.GeneratedField(
        expression=Q(status=TermStatus.ACTIVE.value),  # type: ignore[arg-type]  # a Q is an expression
        output_field=models.BooleanField(),
        db_persist=True,
    )

    WRITABLE: ClassVar = (
        "name", "currency", "status", "valid_from", "valid_to", "priority", "scope", "audience_id", "entry_count",
    )  # fmt: skip
    security: ClassVar = TableSecurity(market=Market(when="on_market"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "code"], name="suppliers_pricelist_code_taken"),
            models.CheckConstraint(condition=Q(status__in=TermStatus.values), name="suppliers_pricelist_status_known"),
            models.CheckConstraint(condition=Q(priority__lte=MOST_PRIORITY), name="suppliers_pricelist_priority"),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="suppliers_pricelist_validity",
            ),
            models.CheckConstraint(
                condition=Q(scope__in=Scope.values) & (Q(scope=Scope.PUBLIC) ^ ~Q(audience_id=EVERYBODY)),
                name="suppliers_pricelist_audience",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_pricelist_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_pricelist_by_updated"),
            models.Index(
                fields=["tenant", "audience_id"], condition=Q(on_market=True), name="suppliers_pricelist_in_force"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class PriceListEntry(TenantOwned):
    """The unit prices of one packaging in a price list; `tiers` are `{min_quantity, unit_price}`, rising.

    `version` counts the changes of the entry. Personal data: none.
    """

    price_list = models.ForeignKey(
        PriceList, on_delete=models.CASCADE, related_name="entries", db_constraint=False, db_index=False
    )
    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    packaging = models.ForeignKey(
        Packaging, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    price_base_quantity = models.PositiveIntegerField(default=1)
    tiers = models.JSONField()

    security: ClassVar = TableSecurity(market=Market())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "price_list", "packaging"], name="suppliers_pricelistentry_once"),
            models.CheckConstraint(
                condition=Q(price_base_quantity__gte=1) & ~Q(tiers=[]), name="suppliers_pricelistentry_amounts"
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "packaging", "price_list"], name="suppliers_entry_by_packaging"),
        ]

    def __str__(self) -> str:
        return str(self.packaging_id)


class Adjustment(TenantOwned):
    """Base of what changes list prices for some buyers under some conditions, under the supplier's own code.

    `conditions` are as the body gives them; `audience_id` stands for the buyers and groups among them. `action_value` is
    a percentage or a unit price. Personal data: none of its own.
    """

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    status = models.CharField(max_length=8, choices=TermStatus, default=TermStatus.DRAFT.value)
    priority = models.PositiveIntegerField(default=0)
    conditions = models.JSONField(default=dict)
    audience_id = models.UUIDField(default=EVERYBODY)
    action_type = models.CharField(max_length=11, choices=ActionType)
    action_value = models.DecimalField(max_digits=19, decimal_places=6)
    floor_price = models.DecimalField(max_digits=19, decimal_places=6, null=True)
    on_market = models.GeneratedField(
        expression=Q(status=TermStatus.ACTIVE.value),  # type: ignore[arg-type]  # a Q is an expression
        output_field=models.BooleanField(),
        db_persist=True,
    )

    WRITABLE: ClassVar[tuple[str, ...]] = (
        "name", "status", "priority", "conditions", "audience_id", "action_type", "action_value", "floor_price", "applies_to_offers",
    )  # fmt: skip
    security: ClassVar = TableSecurity(market=Market(when="on_market"))

    class Meta:
        abstract = True
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["tenant", "code"], name="suppliers_%(class)s_code_taken"),
            models.CheckConstraint(condition=Q(status__in=TermStatus.values), name="suppliers_%(class)s_status_known"),
            models.CheckConstraint(condition=Q(priority__lte=MOST_PRIORITY), name="suppliers_%(class)s_priority"),
            models.CheckConstraint(
                condition=Q(action_type__in=ActionType.values, action_value__gte=0)
                & (~Q(action_type=ActionType.PERCENT) | Q(action_value__lte=100)),
                name="suppliers_%(class)s_action",
            ),
            models.CheckConstraint(
                condition=Q(floor_price__isnull=True) | Q(floor_price__gte=0), name="suppliers_%(class)s_floor"
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_%(class)s_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_%(class)s_updated"),
            models.Index(
                fields=["tenant", "audience_id"], condition=Q(on_market=True), name="suppliers_%(class)s_in_force"
            ),
        ]

    def __str__(self) -> str:
        return self.code


class PricingRule(Adjustment):
    """What a supplier takes off or puts on list prices under some conditions, for as long as he likes.

    The validity is half-open, `[valid_from, valid_to)`; null sets no limit. Personal data: none.
    """

    valid_from = models.DateField(null=True)
    valid_to = models.DateField(null=True)
    exclusive = models.BooleanField(default=False)
    applies_to_offers = models.BooleanField(default=False)

    WRITABLE: ClassVar[tuple[str, ...]] = (*Adjustment.WRITABLE, "valid_from", "valid_to", "exclusive")

    class Meta(Adjustment.Meta):
        abstract = False
        constraints: ClassVar = [
            *Adjustment.Meta.constraints,
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="suppliers_%(class)s_validity",
            ),
        ]
