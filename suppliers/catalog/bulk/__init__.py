"""Many products created or replaced by one request. Source: contract, supply-shelf.md "Bulk"."""
