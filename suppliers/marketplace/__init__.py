"""The shop window: what a supplier offers, and to whom."""
