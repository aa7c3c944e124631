"""The supplier's side of the trade: catalog, prices and stock; later orders and offers."""
