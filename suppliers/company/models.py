"""Table of the supplier's own profile."""

from django.db import models

from organizations.public import TenantOwned


class SupplierProfile(TenantOwned):
    """What a supplier has settled; one for each tenant of the kind supplier, none as long as the defaults hold.

    `order_settings` holds what differs from the defaults of `company.settings`. Personal data: none.
    """

    order_settings = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant"], name="suppliers_supplierprofile_one")]

    def __str__(self) -> str:
        return str(self.tenant_id)
