"""The buyer's side of the trade."""
