"""Table of the products that tenants hold."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from organizations.public import TenantOwned
from suppliers.catalog.models import Product
from suppliers.catalog.states import DAYS_MAX

_OWN = Q(product_tenant_id=F("tenant_id"), own_product=F("id"), own_product__isnull=False)
_ANOTHERS = ~Q(product_tenant_id=F("tenant_id")) & Q(own_product__isnull=True)


class StockItem(TenantOwned):
    """A product as a tenant holds it; its `id` is the product's. Levels, lots and serials of the tenant refer to it.

    Of the tenant's own product the rest stands with the product, and the columns below `own_product` are blank. Of
    another's they are a snapshot, renewed at each receipt; `base_unit` and `tracking` stay, because the goods were counted
    by them. `gtins` have 14 digits; `codes` are national and ATC codes as `code_key` writes them. Temperatures are in
    degrees Celsius. Personal data: none.
    """

    product_tenant_id = models.UUIDField()
    own_product = models.ForeignKey(
        Product, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False, null=True
    )
    supplier_sku = models.CharField(max_length=64, blank=True, default="")
    name = models.CharField(max_length=255, blank=True, default="")
    category = models.CharField(max_length=64, blank=True, default="")
    kind = models.CharField(max_length=12, blank=True, default="")
    base_unit = models.CharField(max_length=3, blank=True, default="")
    tracking = models.CharField(max_length=14, blank=True, default="")
    expiry_required = models.BooleanField(default=False)
    min_remaining_shelf_life_days = models.PositiveIntegerField(null=True)
    storage_min_c = models.DecimalField(max_digits=4, decimal_places=1, null=True)
    storage_max_c = models.DecimalField(max_digits=4, decimal_places=1, null=True)
    gtins = ArrayField(models.CharField(max_length=14), default=list, blank=True)
    codes = ArrayField(models.CharField(max_length=160), default=list, blank=True)
    packagings = models.JSONField(default=list, blank=True)

    class Meta:
        verbose_name = "stock item"
        constraints = [
            models.CheckConstraint(condition=_OWN | _ANOTHERS, name="suppliers_stockitem_whose"),
            models.CheckConstraint(
                condition=Q(own_product__isnull=False) | ~Q(supplier_sku="") & ~Q(base_unit="") & ~Q(tracking=""),
                name="suppliers_stockitem_snapshot",
            ),
            models.CheckConstraint(
                condition=Q(min_remaining_shelf_life_days__range=(0, DAYS_MAX)), name="suppliers_stockitem_rest_days"
            ),
        ]

    def __str__(self) -> str:
        return str(self.own_product) if self.own_product_id else f"{self.supplier_sku} {self.name}"
