"""Refusals of the catalog: those of its unique keys, and those of its rules."""

from core.errors import Conflict, Duplicate


class SkuTaken(Conflict):
    """Another product of the supplier, not archived, has this SKU."""

    code = "sku_taken"
    title = "Another product has this SKU."


class GtinTaken(Conflict):
    """Another packaging of the supplier has this GTIN."""

    code = "gtin_taken"
    title = "Another packaging has this GTIN."


class CategoryCodeTaken(Duplicate):
    """Another category of the supplier, or one of the platform, has this code."""

    title = "Another category has this code."


class ProductInUse(Conflict):
    """Stock, reservations, offers or open orders stand on the product; `reasons` says which."""

    code = "product_in_use"
    title = "The product is in use."
    extensions = {"reasons": ["stock_on_hand"]}


class FieldLocked(Conflict):
    """Base unit, pack ratio and tracking are frozen once stock has moved; `fields` names those that differ."""

    code = "field_locked"
    title = "The field cannot change any more, because stock of the product has moved."
    extensions = {"fields": ["base_unit"]}
