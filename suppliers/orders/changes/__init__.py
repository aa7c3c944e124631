"""What both sides do with changes of orders: propose, answer, confirm, withdraw."""
