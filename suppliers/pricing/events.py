"""Event types of prices. Source: contract, supply.md 8."""

from dataclasses import dataclass
from typing import ClassVar

from ledger.public import EventType, register


@register
@dataclass(frozen=True)
class ProductPriceChanged(EventType):
    """The list prices of a product were replaced; `currencies` are those that it has a price in now."""

    type: ClassVar[str] = "product.price_changed"
    resource: ClassVar[str] = "product"
    href: ClassVar[str] = "/v1/products/{id}/prices"

    supplier_sku: str
    currencies: list[str]
