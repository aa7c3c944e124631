"""Reservations: stock that a supplier promises to a buyer for a while."""
