"""What both parties read of invoices."""
