"""Purchasing: what a buyer does with its orders by itself."""
