"""The supplier's side of the trade: catalog, prices, stock and, later, orders and offers."""
