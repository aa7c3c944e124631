"""What a supplier has on offer: products, their packagings, and the tree of categories. Knows neither prices nor stock."""
