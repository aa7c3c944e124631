"""Approvals of orders: who decides, what was decided, and the steps that wait."""
