"""Unique keys as refusals: a model names beside its constraints what the caller is told when one of them is broken.

The model declares the refusal, and the action simply writes:

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
    """The refusal that the broken constraint stands for; None where its model declares none."""
    name = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None)
    refusal = _refusals().get(name) if name else None
    return refusal() if refusal else None


@cache
def _refusals() -> Refusals:
    declared: list[Refusals] = [getattr(model, "refusals", {}) for model in apps.get_models()]
    return {name: refusal for refusals in declared for name, refusal in refusals.items()}
