"""Value sets that a tenant brought for `:in` and `:not-in`, beside those that R4 binds (`terminology`)."""
