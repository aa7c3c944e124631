"""Invoices and credit notes: what a supplier asks money for, and what its buyer makes of it."""
