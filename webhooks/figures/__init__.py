"""How an endpoint does, in figures: hour by hour, what waits for it, how healthy it is."""
