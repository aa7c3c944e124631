"""Tables of the buyer: suppliers that only it knows, and its relationship to each supplier.

`supplier_id` is the id of the supplier's tenant; who writes it has checked that the tenant sees such a supplier.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from core.row_security import Market, TableSecurity
from core.tenant_rows import TenantRow
from organizations.public import MANAGED_NAME_LENGTH, TenantOwned

from .refusals import RegistrationTaken
from .states import Block, RelationshipStatus

# The market's role reads the rows of the buyer that is bound, so that one role serves a whole answer.
OWN_IN_MARKET = TableSecurity(market=Market(of="tenant_id"))


class ManagedSupplier(TenantOwned):
    """A supplier that is not on the platform, as its buyer describes it; its tenant has no members.

    Personal data: names, e-mail addresses and telephone numbers of contacts.
    """

    supplier_id = models.UUIDField()
    legal_name = models.CharField(max_length=MANAGED_NAME_LENGTH)
    country = models.CharField(max_length=2)
    registrations = models.JSONField(default=list)
    contacts = models.JSONField(default=list)
    currencies = models.JSONField(default=list)
    payment_terms = models.JSONField(null=True)
    tax_rates = models.JSONField(default=list)

    WRITABLE: ClassVar = (
        "legal_name", "country", "registrations", "contacts", "currencies", "payment_terms", "tax_rates",
    )  # fmt: skip
    security: ClassVar = OWN_IN_MARKET

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "supplier_id"], name="suppliers_managedsupplier_once"),
            models.CheckConstraint(condition=~Q(supplier_id=F("tenant")), name="suppliers_managedsupplier_other"),
        ]

    def __str__(self) -> str:
        return self.legal_name


class ManagedRegistration(TenantRow):
    """A registration of a supplier that a buyer manages, once for each buyer. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "supplier_id", "scheme", "value")
    tenant_id = models.UUIDField()
    supplier_id = models.UUIDField()
    scheme = models.CharField(max_length=12)
    value = models.CharField(max_length=64)

    refusals: ClassVar = {"suppliers_managedregistration_once": RegistrationTaken}
    security: ClassVar = TableSecurity()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "scheme", "value"], name="suppliers_managedregistration_once"),
        ]

    def __str__(self) -> str:
        return f"{self.scheme} {self.value}"


class Relationship(TenantOwned):
    """How the buyer stands to one supplier; as long as there is none, it is active and all else is empty.

    A blocked one blocks everything. `approved_categories` are codes; empty, every category is approved.
    Personal data: none.
    """

    supplier_id = models.UUIDField()
    status = models.CharField(max_length=7, choices=RelationshipStatus, default=RelationshipStatus.ACTIVE.value)
    blocks = ArrayField(models.CharField(max_length=8), default=list)
    customer_number = models.CharField(max_length=64, blank=True, default="")
    payment_terms = models.JSONField(null=True)
    spend_limit = models.JSONField(null=True)
    approved_categories = ArrayField(models.CharField(max_length=64), default=list)

    WRITABLE: ClassVar = (
        "status", "blocks", "customer_number", "payment_terms", "spend_limit", "approved_categories",
    )  # fmt: skip
    security: ClassVar = OWN_IN_MARKET

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "supplier_id"], name="suppliers_relationship_once"),
            models.CheckConstraint(condition=~Q(supplier_id=F("tenant")), name="suppliers_relationship_other"),
            models.CheckConstraint(
                condition=Q(status__in=RelationshipStatus.values), name="suppliers_relationship_status_known"
            ),
            models.CheckConstraint(
                condition=Q(blocks__contained_by=Block.values), name="suppliers_relationship_blocks_known"
            ),
            models.CheckConstraint(
                condition=~Q(status=RelationshipStatus.BLOCKED) | Q(blocks__contains=Block.values),
                name="suppliers_relationship_blocked_wholly",
            ),
        ]

    def __str__(self) -> str:
        return str(self.supplier_id)


class ItemAlias(TenantRow):
    """The code by which the buyer names a product of one supplier. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "supplier_id", "product_id")
    tenant_id = models.UUIDField()
    supplier_id = models.UUIDField()
    product_id = models.UUIDField()
    own_code = models.CharField(max_length=64)

    security: ClassVar = OWN_IN_MARKET

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant_id", "supplier_id", "own_code"], name="suppliers_itemalias_code_once"
            ),
        ]

    def __str__(self) -> str:
        return self.own_code


class BlockedProduct(TenantRow):
    """A product of one supplier that the buyer does not want to be ordered. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "supplier_id", "product_id")
    tenant_id = models.UUIDField()
    supplier_id = models.UUIDField()
    product_id = models.UUIDField()

    security: ClassVar = OWN_IN_MARKET

    def __str__(self) -> str:
        return str(self.product_id)


class ApprovedSubstitute(TenantRow):
    """A product of the same supplier that the buyer takes in place of another. Personal data: none."""

    pk = models.CompositePrimaryKey("tenant_id", "supplier_id", "product_id", "substitute_product_id")
    tenant_id = models.UUIDField()
    supplier_id = models.UUIDField()
    product_id = models.UUIDField()
    substitute_product_id = models.UUIDField()

    security: ClassVar = OWN_IN_MARKET

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(product_id=F("substitute_product_id")), name="suppliers_approvedsubstitute_other"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product_id} {self.substitute_product_id}"
