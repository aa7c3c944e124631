"""Tables of budgets: their amounts, and what each document has committed and spent of them."""

from decimal import Decimal
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from organizations.public import TenantOwned

from .states import Enforcement

MOST_COST_CENTERS = 500
_ZERO = Decimal(0)


class Budget(TenantOwned):
    """What a buyer may spend in a period, under its own code.

    The validity is half-open, `[valid_from, valid_to)`. Without `cost_centers` it is for any. `committed` and `spent` are
    the sums of its entries; only `commitments` writes them, under the row's lock, and they make no new version: whoever
    replaces a budget has not read the orders of that moment. A sum has more digits than any one amount. `words` are those by which a search finds it.
    Personal data: none.
    """

    code = models.CharField(max_length=64)
    name = models.CharField(max_length=255)
    amount = models.DecimalField(max_digits=19, decimal_places=4)
    currency = models.CharField(max_length=3)
    valid_from = models.DateField()
    valid_to = models.DateField()
    cost_centers = ArrayField(models.CharField(max_length=64), default=list)
    threshold_percent = models.PositiveSmallIntegerField(default=80)
    enforcement = models.CharField(max_length=4, choices=Enforcement, default=Enforcement.HARD.value)
    active = models.BooleanField(default=True)
    committed = models.DecimalField(max_digits=24, decimal_places=4, default=_ZERO, db_default=_ZERO)
    spent = models.DecimalField(max_digits=24, decimal_places=4, default=_ZERO, db_default=_ZERO)
    words = ArrayField(models.TextField(), default=list)

    WRITABLE: ClassVar = (
        "name", "amount", "currency", "valid_from", "valid_to", "cost_centers", "threshold_percent", "enforcement", "active",
        "words",
    )  # fmt: skip
    unversioned: ClassVar = ("committed", "spent")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "code"], name="procurement_budget_code_taken"),
            models.CheckConstraint(
                condition=Q(amount__gte=0, committed__gte=0, spent__gte=0), name="procurement_budget_amounts"
            ),
            models.CheckConstraint(
                condition=Q(enforcement=Enforcement.WARN) | Q(amount__gte=F("committed") + F("spent")),
                name="procurement_budget_not_exceeded",
            ),
            models.CheckConstraint(
                condition=Q(enforcement__in=Enforcement.values), name="procurement_budget_enforcement_known"
            ),
            models.CheckConstraint(condition=Q(threshold_percent__range=(1, 100)), name="procurement_budget_threshold"),
            models.CheckConstraint(condition=Q(valid_to__gt=F("valid_from")), name="procurement_budget_validity"),
        ]
        indexes = [
            models.Index(fields=["tenant", "created_at", "id"], name="procurement_budget_by_created"),
            models.Index(fields=["tenant", "updated_at", "id"], name="procurement_budget_by_updated"),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def used(self) -> Decimal:
        """What is committed and spent."""
        return self.committed + self.spent

    @property
    def is_reached(self) -> bool:
        """Tell whether what is used has reached the threshold; nothing used never has."""
        return self.used > 0 and self.used * 100 >= self.amount * self.threshold_percent


class BudgetEntry(TenantOwned):
    """What one document has committed and spent of a budget, in the budget's currency; it makes each step exact.

    `document_id` is that of an order, `cost_center` the one that it names. Personal data: none.
    """

    budget = models.ForeignKey(
        Budget, on_delete=models.CASCADE, related_name="entries", db_constraint=False, db_index=False
    )
    document_id = models.UUIDField()
    cost_center = models.CharField(max_length=64, blank=True, default="")
    committed = models.DecimalField(max_digits=24, decimal_places=4, default=_ZERO, db_default=_ZERO)
    spent = models.DecimalField(max_digits=24, decimal_places=4, default=_ZERO, db_default=_ZERO)

    class Meta:
        verbose_name_plural = "budget entries"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "budget", "document_id"], name="procurement_budgetentry_once"),
            models.CheckConstraint(condition=Q(committed__gte=0, spent__gte=0), name="procurement_budgetentry_amounts"),
        ]
        indexes = [
            models.Index(fields=["tenant", "document_id"], name="procurement_entry_by_document"),
            models.Index(fields=["tenant", "updated_at", "id"], name="procurement_entry_by_updated"),
        ]

    def __str__(self) -> str:
        return str(self.document_id)
