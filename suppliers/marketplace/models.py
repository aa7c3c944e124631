"""Tables of the marketplace: offers, and the buyers that may see them."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django_fsm import FSMField

from core.lifecycle import LifecycleModel, transition
from core.row_security import Market, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import TenantOwned
from suppliers.catalog.models import Packaging, Product

from .refusals import OfferExists
from .states import LIVE, OfferStatus, StockDisplay, StockPolicy, VisibilityMode

_NOT_ARCHIVED = [
    OfferStatus.DRAFT.value,
    OfferStatus.PUBLISHED.value,
    OfferStatus.PAUSED.value,
    OfferStatus.EXPIRED.value,
]


class Offer(TenantOwned, LifecycleModel):
    """One packaging of a product as a supplier offers it.

    `audience_id` names the buyers that may see it: zeros for everybody, else an `Audience`; a private offer has one of
    its own without members. While staff hold it, since `held_at` and for `hold_reason`, it is not published. A limit is what one buyer may take in so many days while there is a shortage, in packs.
    Personal data: none.
    """

    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    packaging = models.ForeignKey(
        Packaging, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    title = models.CharField(max_length=255, blank=True, default="")
    status = FSMField(default=OfferStatus.DRAFT.value, choices=OfferStatus, protected=True, max_length=9)
    currency = models.CharField(max_length=3, blank=True, default="")
    tiers = models.JSONField(default=list)
    price_base_quantity = models.PositiveIntegerField(default=1)
    min_order_quantity = models.PositiveIntegerField(null=True)
    max_order_quantity = models.PositiveIntegerField(null=True)
    lead_time_days = models.PositiveIntegerField(null=True)
    stock_policy = models.CharField(max_length=13, choices=StockPolicy, default=StockPolicy.LIVE.value)
    fixed_quantity = models.PositiveBigIntegerField(null=True)
    stock_display = models.CharField(max_length=6, choices=StockDisplay, default=StockDisplay.BAND.value)
    cap = models.PositiveIntegerField(null=True)
    min_remaining_shelf_life_days = models.PositiveIntegerField(null=True)
    countries = models.JSONField(default=list)
    valid_from = models.DateField(null=True)
    valid_to = models.DateField(null=True)
    visibility_mode = models.CharField(max_length=8, choices=VisibilityMode, default=VisibilityMode.PRIVATE.value)
    audience_id = models.UUIDField()
    limit_quantity = models.PositiveIntegerField(null=True)
    limit_period_days = models.PositiveIntegerField(null=True)
    limit_until = models.DateField(null=True)
    held_at = models.DateTimeField(null=True)
    hold_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    on_market = models.GeneratedField(
        expression=Q(status=OfferStatus.PUBLISHED.value),  # type: ignore[arg-type]  # a Q is an expression
        output_field=models.BooleanField(),
        db_persist=True,
    )

    WRITABLE: ClassVar = (
        "product_id", "packaging_id", "title", "currency", "tiers", "price_base_quantity", "min_order_quantity", "max_order_quantity",
        "lead_time_days", "stock_policy", "fixed_quantity", "min_remaining_shelf_life_days", "countries", "valid_from",
        "valid_to", "limit_quantity", "limit_period_days", "limit_until",
    )  # fmt: skip
    refusals: ClassVar = {"suppliers_offer_live_once": OfferExists}
    security: ClassVar = TableSecurity(dispatcher=True, market=Market(when="on_market"))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "packaging"], condition=Q(status__in=LIVE), name="suppliers_offer_live_once"
            ),
            models.CheckConstraint(condition=Q(status__in=OfferStatus.values), name="suppliers_offer_status_known"),
            models.CheckConstraint(
                condition=Q(held_at__isnull=True) | ~Q(status=OfferStatus.PUBLISHED),
                name="suppliers_offer_held_off_market",
            ),
            models.CheckConstraint(
                condition=Q(valid_from__isnull=True) | Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="suppliers_offer_validity",
            ),
            models.CheckConstraint(
                condition=~Q(stock_display=StockDisplay.CAPPED) | Q(cap__isnull=False), name="suppliers_offer_capped"
            ),
            models.CheckConstraint(
                condition=Q(limit_quantity__isnull=True, limit_period_days__isnull=True, limit_until__isnull=True)
                | Q(limit_quantity__gte=1, limit_period_days__range=(1, 90), limit_until__isnull=False),
                name="suppliers_offer_limit_whole",
            ),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_offer_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="suppliers_offer_by_updated"),
            models.Index(fields=["tenant", "product", "created_at", "id"], name="suppliers_offer_by_product"),
            models.Index(fields=["product", "id"], condition=Q(on_market=True), name="suppliers_market_offers"),
            models.Index(
                fields=["valid_to", "tenant"],
                condition=Q(status__in=LIVE, valid_to__isnull=False),
                name="suppliers_offer_ending",
            ),
            models.Index(
                fields=["tenant", "packaging"], condition=Q(held_at__isnull=False), name="suppliers_offer_held"
            ),
        ]

    def __str__(self) -> str:
        return self.title or str(self.id)

    @transition(
        field=status,
        source=[OfferStatus.DRAFT.value, OfferStatus.PAUSED.value, OfferStatus.EXPIRED.value],
        target=OfferStatus.PUBLISHED.value,
    )
    def publish(self) -> None:
        """Show the offer to its audience."""

    @transition(field=status, source=OfferStatus.PUBLISHED.value, target=OfferStatus.PAUSED.value)
    def unpublish(self) -> None:
        """Hide the offer for a while."""

    @transition(field=status, source=list(LIVE), target=OfferStatus.EXPIRED.value)
    def expire(self) -> None:
        """End the offer, because its validity is over."""

    @transition(field=status, source=_NOT_ARCHIVED, target=OfferStatus.ARCHIVED.value)
    def archive(self) -> None:
        """End the offer for good."""


class Audience(TenantOwned):
    """The buyers that may see something of a supplier, as it named them; what names the same ones shares the audience.

    `digest` is that of the three lists, which hold ids and codes as text, in order. Never changed: another choice is another audience.
    Personal data: none.
    """

    digest = models.CharField(max_length=64)
    tenant_ids = models.JSONField(default=list)
    organization_ids = models.JSONField(default=list)
    group_codes = models.JSONField(default=list)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "digest"], name="suppliers_audience_once")]

    def __str__(self) -> str:
        return self.digest


class AudienceOrganization(TenantRow):
    """An organization that an audience names, itself or by a group: every tenant below it belongs to the audience.

    The dispatcher's role finds by it whom a new or moved tenant concerns. Personal data: none.
    """

    pk = models.CompositePrimaryKey("tenant_id", "organization_id", "audience_id")
    tenant_id = models.UUIDField()
    organization_id = models.UUIDField()
    audience_id = models.UUIDField()

    security: ClassVar = TableSecurity(dispatcher=True)

    class Meta:
        indexes = [models.Index(fields=["organization_id"], name="suppliers_audience_of_org")]

    def __str__(self) -> str:
        return str(self.organization_id)


class AudienceMember(TenantRow):
    """One buyer that belongs to an audience of the supplier. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "audience_id", "member_tenant_id")
    tenant_id = models.UUIDField()
    audience_id = models.UUIDField()
    member_tenant_id = models.UUIDField()

    security: ClassVar = TableSecurity(market=Market(of="member_tenant_id"))

    class Meta:
        indexes = [
            models.Index(fields=["member_tenant_id", "tenant_id", "audience_id"], name="suppliers_audience_by_member")
        ]

    def __str__(self) -> str:
        return str(self.member_tenant_id)


class OfferExclusion(TenantRow):
    """One buyer that may not see an offer, whatever its audience. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "offer_id", "member_tenant_id")
    tenant_id = models.UUIDField()
    offer_id = models.UUIDField()
    member_tenant_id = models.UUIDField()

    security: ClassVar = TableSecurity(market=Market(of="member_tenant_id"))

    def __str__(self) -> str:
        return str(self.member_tenant_id)
