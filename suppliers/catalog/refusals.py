"""Refusals of the catalog: those of its unique constraints and those of its rules."""

from core.errors import Conflict, Duplicate, FieldLocked

__all__ = [
    "AttributeCodeTaken",
    "CategoryCodeTaken",
    "FieldLocked",
    "GtinTaken",
    "ModerationHold",
    "NotHeld",
    "ProductInUse",
    "SkuTaken",
]


class SkuTaken(Conflict):
    """Another product of the supplier that is not archived has this SKU."""

    code = "sku_taken"
    title = "Another product has this SKU."


class GtinTaken(Conflict):
    """Another packaging of the supplier has this GTIN."""

    code = "gtin_taken"
    title = "Another packaging has this GTIN."


class CategoryCodeTaken(Duplicate):
    """Another category of the supplier, or one of the platform, has this code."""

    title = "Another category has this code."


class AttributeCodeTaken(Duplicate):
    """Another attribute definition has this code."""

    title = "Another attribute has this code."


class ProductInUse(Conflict):
    """Stock, reservations, offers or open orders of the product exist; `reasons` says which."""

    code = "product_in_use"
    title = "The product is in use."
    extensions = {"reasons": ["stock_on_hand"]}


class ModerationHold(Conflict):
    """Staff of the platform hold the product or offer off the market until they lift the hold; `reason` is theirs."""

    code = "moderation_hold"
    title = "The platform holds it off the market."
    extensions = {"reason": "The claims in the description are not approved."}


class NotHeld(Conflict):
    """There is no hold to lift."""

    code = "not_held"
    title = "The platform does not hold it."
