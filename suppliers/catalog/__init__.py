"""The products of a supplier, their packagings, and the category tree; without prices and stock."""
