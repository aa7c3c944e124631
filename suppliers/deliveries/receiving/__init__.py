"""Receipts: what a buyer has accepted, rejected and missed of a delivery, and what became of it on the buyer's shelves."""
