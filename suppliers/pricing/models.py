"""Tables of pricing: the list prices of a product's packagings, in tiers."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from core.row_security import Market, TableSecurity
from organizations.public import TenantOwned
from suppliers.catalog.models import Packaging, Product


class ListPrice(TenantOwned):
    """The list price of a packaging in one currency for a period; the period is half-open, `[valid_from, valid_to)`.

    `on_market` is the product's. Personal data: none.
    """

    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    packaging = models.ForeignKey(
        Packaging, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    currency = models.CharField(max_length=3)
    price_base_quantity = models.PositiveIntegerField(default=1)
    valid_from = models.DateField()
    valid_to = models.DateField(null=True)
    on_market = models.BooleanField(default=False, db_default=False)

    unversioned: ClassVar = ("on_market",)
    security: ClassVar = TableSecurity(market=Market(when="on_market"))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "product", "packaging", "currency", "valid_from"],
                name="suppliers_listprice_one_a_day",
            ),
            models.CheckConstraint(
                condition=Q(valid_to__isnull=True) | Q(valid_to__gt=F("valid_from")),
                name="suppliers_listprice_validity",
            ),
            models.CheckConstraint(condition=Q(price_base_quantity__gte=1), name="suppliers_listprice_base_quantity"),
        ]

    def __str__(self) -> str:
        return f"{self.currency} from {self.valid_from}"


class ListPriceTier(TenantOwned):
    """The unit price from a minimum quantity up.

    Personal data: none.
    """

    price = models.ForeignKey(
        ListPrice, on_delete=models.CASCADE, related_name="tiers", db_constraint=False, db_index=False
    )
    min_quantity = models.PositiveBigIntegerField()
    unit_price = models.DecimalField(max_digits=19, decimal_places=6)

    security: ClassVar = TableSecurity(market=Market())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "price", "min_quantity"], name="suppliers_listpricetier_quantity_once"
            ),
            models.CheckConstraint(
                condition=Q(min_quantity__gte=1, unit_price__gte=0), name="suppliers_listpricetier_amounts"
            ),
        ]

    def __str__(self) -> str:
        return f"from {self.min_quantity}: {self.unit_price}"
