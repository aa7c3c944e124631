"""Products as tenants hold them: a supplier its own, a buyer those of its suppliers."""
