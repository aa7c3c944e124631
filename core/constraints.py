"""Unique constraints as refusals: a model names the refusal that answers a violation of each of its unique constraints.

The model declares the refusal, so that the action only has to write:

    class Product(models.Model):
        refusals: ClassVar = {"suppliers_product_sku_taken": SkuTaken}
"""

from collections.abc import Mapping
from functools import cache

from django.apps import apps
from django.db import Error

from core.errors import PlatformError

Refusals = Mapping[str, type[PlatformError]]


def refusal_of(error: Error) -> PlatformError | None:
    """Return the refusal declared for the violated constraint; None where its model declares none."""
    name = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    refusal = _refusals().get(name) if name else None
    return refusal() if refusal else None


@cache
def _refusals() -> Refusals:
    declared: list[Refusals] = [getattr(model, "refusals", {}) for model in apps.get_models()]
    return {name: refusal for refusals in declared for name, refusal in refusals.items()}
