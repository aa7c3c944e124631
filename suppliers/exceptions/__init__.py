"""Exceptions of trade for staff: queues over all tenants, each for the roles that see its area."""
