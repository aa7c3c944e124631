"""The columns that a draft of an agreement and an accepted version have in common."""

from typing import ClassVar, Final

from django.db import models
from django.db.models import F, Q

from .states import AgreementScope, Side

MOST_PRIORITY: Final = 1_000
MOST_LINES: Final = 10_000


class AgreementTerms(models.Model):
    """Base of drafts and versions: what both parties negotiate, but for the lines.

    `agreement_id` is the id that clients know, the same for all versions and their drafts; it is the `id` of the first.
    `author` is the side that has written the version. The validity is half-open, `[valid_from, valid_to)`, by the date at
    the supplier. `min_order_value` and `free_freight_from` are money objects in the agreement's currency; tolerances are in
    basis points. `categories` are those that lines name. `files` are as `Handed.as_received` has them. Personal data: names
    and titles of files may hold names of persons.
    """

    agreement_id = models.UUIDField()
    revision = models.PositiveIntegerField(default=1)
    supplier_tenant_id = models.UUIDField()
    author = models.CharField(max_length=8, choices=Side)
    title = models.CharField(max_length=255)
    scope = models.CharField(max_length=12, choices=AgreementScope, default=AgreementScope.TENANT.value)
    group_code = models.CharField(max_length=64, blank=True, default="")
    currency = models.CharField(max_length=3)
    valid_from = models.DateField()
    valid_to = models.DateField()
    priority = models.PositiveIntegerField(default=0)
    payment_terms = models.JSONField(null=True)
    min_order_value = models.JSONField(null=True)
    free_freight_from = models.JSONField(null=True)
    qty_tolerance_bp = models.PositiveIntegerField(null=True)
    price_tolerance_bp = models.PositiveIntegerField(null=True)
    cancellation_policy = models.CharField(max_length=2000, blank=True, default="")
    lines_total = models.PositiveIntegerField(default=0)
    categories = models.JSONField(default=list)
    files = models.JSONField(default=list, db_default=[])

    HEADER: ClassVar = (
        "title", "scope", "group_code", "currency", "valid_from", "valid_to", "priority", "payment_terms",
        "min_order_value", "free_freight_from", "qty_tolerance_bp", "price_tolerance_bp", "cancellation_policy",
        "files",
    )  # fmt: skip

    class Meta:
        abstract = True


def term_checks(table: str) -> list[models.CheckConstraint]:
    """Return the checks of the common columns for a table."""
    tolerances = [
        Q(**{f"{name}__isnull": True}) | Q(**{f"{name}__lte": 10_000})
        for name in ("qty_tolerance_bp", "price_tolerance_bp")
    ]
    return [
        models.CheckConstraint(condition=Q(author__in=Side.values), name=f"{table}_author_known"),
        models.CheckConstraint(condition=Q(valid_to__gt=F("valid_from")), name=f"{table}_validity"),
        models.CheckConstraint(condition=Q(priority__lte=MOST_PRIORITY), name=f"{table}_priority"),
        models.CheckConstraint(condition=tolerances[0] & tolerances[1], name=f"{table}_tolerances"),
        models.CheckConstraint(condition=Q(revision__gte=1, lines_total__lte=MOST_LINES), name=f"{table}_numbers"),
        models.CheckConstraint(
            condition=Q(scope=AgreementScope.ORGANIZATION) | Q(scope=AgreementScope.TENANT, group_code=""),
            name=f"{table}_scope",
        ),
    ]
