"""The product endpoints: the catalog combined with prices and stock."""
