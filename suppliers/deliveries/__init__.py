"""Shipments of suppliers, which become the deliveries of buyers, and what the buyers receive of them."""
