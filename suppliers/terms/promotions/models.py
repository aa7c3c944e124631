"""Tables of promotions, and of what buyers have redeemed of them."""

from typing import ClassVar, Final

from django.db import models
from django.db.models import Case, F, Q, When

from core.row_security import Market, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import TenantOwned
from suppliers.terms.models import Adjustment
from suppliers.terms.states import TermStatus

from .states import Told

MOST_COUNTED: Final = 2_147_483_647


class Promotion(Adjustment):
    """What a supplier takes off prices in a window of time, half-open, `[starts_at, ends_at)`, within limits.

    `redemptions` counts the orders that hold it, at most `max_redemptions`, and at most `max_per_buyer` of one buyer.
    `spent` is what these orders save by it in `budget_currency`, at most `budget_amount`; a promotion of several
    currencies counts no amounts. `told` is what its supplier was last told of its course, and the next moment of it is at
    `due_at`. `words` are those of code and name, each behind a space, as a search compares them. Personal data: none.
    """

    words = models.TextField(default="")
    applies_to_offers = models.BooleanField(default=True)
    applies_to_contracts = models.BooleanField(default=False)
    combinable = models.BooleanField(default=False)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    budget_amount = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    budget_currency = models.CharField(max_length=3, null=True)
    spent = models.DecimalField(max_digits=19, decimal_places=4, default=0)
    max_redemptions = models.PositiveIntegerField(null=True)
    redemptions = models.PositiveIntegerField(default=0)
    max_per_buyer = models.PositiveIntegerField(null=True)
    exhausted = models.GeneratedField(
        expression=Q(max_redemptions__isnull=False, redemptions__gte=F("max_redemptions"))  # type: ignore[arg-type]  # as above
        | Q(budget_amount__isnull=False, spent__gte=F("budget_amount")),
        output_field=models.BooleanField(),
        db_persist=True,
    )
    told = models.CharField(max_length=7, choices=Told, default=Told.OVER.value)
    due_at = models.GeneratedField(
        expression=Case(
            When(told=Told.WAITING.value, status=TermStatus.ACTIVE.value, then=F("starts_at")),
            When(told=Told.RUNNING.value, then=F("ends_at")),
        ),
        output_field=models.DateTimeField(null=True),
        db_persist=True,
    )

    WRITABLE: ClassVar[tuple[str, ...]] = (
        *Adjustment.WRITABLE, "words", "applies_to_contracts", "combinable", "starts_at", "ends_at", "budget_amount",
        "budget_currency", "max_redemptions", "max_per_buyer",
    )  # fmt: skip
    unversioned: ClassVar[tuple[str, ...]] = ("spent", "redemptions", "exhausted", "told", "due_at")
    security: ClassVar = TableSecurity(dispatcher=True, market=Market(when="on_market"))

    class Meta(Adjustment.Meta):
        abstract = False
        constraints: ClassVar = [
            *Adjustment.Meta.constraints,
            models.CheckConstraint(condition=Q(ends_at__gt=F("starts_at")), name="suppliers_promotion_window"),
            models.CheckConstraint(
                condition=(Q(budget_amount__isnull=True) | Q(budget_amount__gt=0, budget_currency__isnull=False))
                & (Q(spent=0) | Q(spent__gt=0, budget_currency__isnull=False)),
                name="suppliers_promotion_budget",
            ),
            models.CheckConstraint(
                condition=(Q(budget_amount__isnull=True) | Q(spent__lte=F("budget_amount")))
                & (Q(max_redemptions__isnull=True) | Q(redemptions__lte=F("max_redemptions"))),
                name="suppliers_promotion_within_limits",
            ),
            models.CheckConstraint(condition=Q(told__in=Told.values), name="suppliers_promotion_told_known"),
        ]
        indexes: ClassVar = [
            *Adjustment.Meta.indexes,
            models.Index(
                fields=["due_at", "tenant"], condition=Q(due_at__isnull=False), name="suppliers_promotion_due"
            ),
        ]


class PromotionBuyer(TenantRow):
    """How many orders of one buyer hold a promotion of the supplier. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "promotion_id", "buyer_tenant_id")
    tenant_id = models.UUIDField()
    promotion_id = models.UUIDField()
    buyer_tenant_id = models.UUIDField()
    redemptions = models.PositiveIntegerField(default=0)

    security: ClassVar = TableSecurity(market=Market(of="buyer_tenant_id"))

    def __str__(self) -> str:
        return str(self.buyer_tenant_id)


class PromotionRedemption(TenantOwned):
    """What one document of a buyer, an order, saves by a promotion of the supplier; given back since `given_back_at`.

    The document belongs to the buyer, and a row is never deleted. Personal data: none.
    """

    promotion = models.ForeignKey(
        Promotion, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    document_id = models.UUIDField()
    buyer_tenant_id = models.UUIDField()
    amount = models.DecimalField(max_digits=19, decimal_places=4)
    currency = models.CharField(max_length=3)
    given_back_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "document_id", "promotion"], name="suppliers_promotionredemption_once"
            ),
            models.CheckConstraint(condition=Q(amount__gte=0), name="suppliers_promotionredemption_amount"),
        ]
        indexes = [
            models.Index(fields=["tenant", "promotion", "created_at", "id"], name="suppliers_redemption_promotion"),
            models.Index(fields=["tenant", "created_at", "id"], name="suppliers_redemption_created"),
        ]

    def __str__(self) -> str:
        return str(self.document_id)
