"""A product as clients see it: the catalog's fields, with prices and stock on request."""

from dataclasses import replace

from suppliers.catalog.shapes import PRODUCT as CATALOG_PRODUCT
from suppliers.catalog.shapes import product_list
from suppliers.inventory.shapes import STOCK_TOTALS
from suppliers.pricing.shapes import LIST_PRICES

PRODUCT = replace(CATALOG_PRODUCT, includes=(LIST_PRICES, STOCK_TOTALS))
PRODUCTS = product_list(PRODUCT)
