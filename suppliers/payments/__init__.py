"""Payments of invoices: what a buyer has told its bank to pay, what came of it, and credit that pays other invoices."""
