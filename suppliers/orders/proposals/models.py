"""The table of proposed changes of orders."""

from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from core.errors import Busy
from organizations.public import TenantOwned
from suppliers.orders.models import PurchaseOrder
from suppliers.orders.states import Party

from .states import ChangeState

_ZERO = Decimal(0)


class OrderChange(TenantOwned):
    """A change of an order that one side has proposed; of each side one is open at most.

    `lines` are the lines that differ, each by its id with its quantities and dates as they would be; `added` are the
    columns of further lines, and `header` the columns of the order that differ. Totals are those of the order as they
    would be. `more_gross` and `more` are what the change holds of limits beyond what the order itself needs: base units by
    line of an agreement and its owner, and by offer. Personal data: the id of the member of the buyer who proposed it; free texts.
    """

    order = models.ForeignKey(
        PurchaseOrder, on_delete=models.CASCADE, related_name="changes", db_constraint=False, db_index=False
    )
    proposed_by = models.CharField(max_length=8, choices=Party)
    author_id = models.UUIDField(null=True)
    state = models.CharField(max_length=9, choices=ChangeState, default=ChangeState.OPEN.value)
    revision = models.IntegerField()
    reason = models.CharField(max_length=500, blank=True, default="")
    header = models.JSONField(default=dict)
    lines = models.JSONField(default=list)
    added = models.JSONField(default=list)
    net = models.DecimalField(max_digits=19, decimal_places=4)
    tax = models.DecimalField(max_digits=19, decimal_places=4, null=True)
    gross = models.DecimalField(max_digits=19, decimal_places=4)
    taxes = models.JSONField(default=list)
    more_gross = models.DecimalField(max_digits=19, decimal_places=4, default=_ZERO, db_default=_ZERO)
    more = models.JSONField(default=dict)
    decided_at = models.DateTimeField(null=True)

    CONTENT: ClassVar = (
        "revision", "reason", "header", "lines", "added", "net", "tax", "gross", "taxes", "more_gross", "more",
    )  # fmt: skip
    refusals: ClassVar = {"suppliers_orderchange_one_open": Busy}

    class Meta:
        verbose_name = "change of an order"
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "order", "proposed_by"],
                condition=Q(state=ChangeState.OPEN.value),
                name="suppliers_orderchange_one_open",
            ),
            models.CheckConstraint(condition=Q(state__in=ChangeState.values), name="suppliers_orderchange_state_known"),
            models.CheckConstraint(condition=Q(proposed_by__in=Party.values), name="suppliers_orderchange_party_known"),
            models.CheckConstraint(
                condition=Q(proposed_by=Party.BUYER.value) ^ Q(author_id__isnull=True),
                name="suppliers_orderchange_author",
            ),
            models.CheckConstraint(
                condition=Q(state=ChangeState.OPEN.value) ^ Q(decided_at__isnull=False),
                name="suppliers_orderchange_decided",
            ),
            models.CheckConstraint(
                condition=Q(revision__gte=1, net__gte=0, gross__gte=F("net"), more_gross__gte=0),
                name="suppliers_orderchange_amounts",
            ),
            models.CheckConstraint(
                condition=Q(state=ChangeState.OPEN.value) | Q(more_gross=0, more={}), name="suppliers_orderchange_held"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.proposed_by} {self.revision}"
