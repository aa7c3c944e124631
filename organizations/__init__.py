"""Who may do what, where: organizations, tenants, locations, memberships, keys, tokens."""
