"""A supplier's terms for some or all buyers, under his own codes: price lists, pricing rules and promotions."""
