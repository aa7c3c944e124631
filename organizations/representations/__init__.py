"""Answers of this app: what clients read of organizations, tenants, members, keys, locations and jobs."""
