"""Representations of organizations, tenants, memberships, API keys, locations, settings and jobs."""
