"""Organizations, tenants, locations, memberships, API keys and tokens: who may do what in which tenant."""
