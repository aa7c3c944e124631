"""Validates the checks of holds; finds held offers by packaging, suppliers by name; one index of GTINs instead of two.

Safe: writers go on while the rows are looked at and the indexes are made.
"""

from typing import ClassVar

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently, ValidateConstraint
from django.db import migrations, models


def index(model, name, fields, condition=None):
    """An index that is made while writers go on."""
    made = models.Index(condition=condition, fields=fields, name=name)
    return AddIndexConcurrently(model_name=model, index=made)


class Migration(migrations.Migration):
    """Writers go on."""

    atomic = False

    dependencies: ClassVar = [("suppliers", "0017_holds")]

    operations: ClassVar = [
        ValidateConstraint(model_name="offer", name="suppliers_offer_held_off_market"),
        ValidateConstraint(model_name="product", name="suppliers_product_held_off_market"),
        index("offer", "suppliers_offer_held", ["tenant", "packaging"], models.Q(("held_at__isnull", False))),
        index(
            "supplierprofile",
            "suppliers_profile_by_name",
            ["name_sort", "tenant"],
            models.Q(("legal_name", ""), _negated=True),
        ),
        index("supplierprofile", "suppliers_profile_unnamed", ["tenant"], models.Q(("legal_name", ""))),
        index("supplierprofile", "suppliers_profile_by_created", ["created_at", "tenant"]),
        RemoveIndexConcurrently(model_name="packaging", name="suppliers_market_by_gtin"),
    ]
