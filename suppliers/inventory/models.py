"""Tables of the inventory: stock of products at locations."""

from django.db import models
from django.db.models import F, Q

from organizations.public import TenantOwned
from suppliers.catalog.models import Product


class StockLevel(TenantOwned):
    """On-hand and reserved base units of one product at one location.

    Personal data: none.
    """

    product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    location = models.ForeignKey(
        "organizations.Location", on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    on_hand = models.PositiveBigIntegerField(default=0)
    reserved = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "product", "location"], name="suppliers_stocklevel_once"),
            models.CheckConstraint(
                condition=Q(reserved__gte=0, reserved__lte=F("on_hand")), name="suppliers_stocklevel_reserved"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.on_hand - self.reserved} of {self.on_hand}"
