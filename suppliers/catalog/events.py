"""Event types of products and categories. Source: contract, supply 8."""

from dataclasses import dataclass, field
from typing import ClassVar

from ledger.public import EventType, register


@dataclass(frozen=True)
class _ProductEvent(EventType):
    resource: ClassVar[str] = "product"
    href: ClassVar[str] = "/v1/products/{id}"
    supplier_sku: str


@register
@dataclass(frozen=True)
class ProductCreated(_ProductEvent):
    """A product was created, as a draft or active."""

    type: ClassVar[str] = "product.created"
    status: str


@register
@dataclass(frozen=True)
class ProductUpdated(_ProductEvent):
    """A product was replaced; `changes` names the fields that differ."""

    type: ClassVar[str] = "product.updated"
    status: str
    changes: list[str]


@register
@dataclass(frozen=True)
class ProductActivated(_ProductEvent):
    """A draft or discontinued product was activated and can be sold."""

    type: ClassVar[str] = "product.activated"


@register
@dataclass(frozen=True)
class ProductDiscontinued(_ProductEvent):
    """A product was discontinued and is no longer sold."""

    type: ClassVar[str] = "product.discontinued"


@register
@dataclass(frozen=True)
class ProductDeleted(_ProductEvent):
    """A product was archived; its row stays for traceability."""

    type: ClassVar[str] = "product.deleted"


@dataclass(frozen=True)
class _CategoryEvent(EventType):
    # Without `href`, because a single category has no address to be read at.
    resource: ClassVar[str] = "category"
    code: str = field(metadata={"example": "gloves-nitrile"})


@register
@dataclass(frozen=True)
class CategoryCreated(_CategoryEvent):
    """An own category was created; the list of categories holds it."""

    type: ClassVar[str] = "category.created"


@register
@dataclass(frozen=True)
class CategoryUpdated(_CategoryEvent):
    """An own category was renamed, moved, mapped, or switched off or on; `changes` names the fields that differ."""

    type: ClassVar[str] = "category.updated"
    changes: list[str]
