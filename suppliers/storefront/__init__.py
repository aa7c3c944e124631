"""The product endpoints as clients see them: the catalog composed with prices and stock."""
