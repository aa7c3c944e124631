"""Budgets of a buyer: what may be spent, what orders have committed of it, and what invoices have spent."""
