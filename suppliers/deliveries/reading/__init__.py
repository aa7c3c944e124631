"""What both parties read of shipments and deliveries."""
