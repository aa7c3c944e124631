"""Quotes: the prices of many lines at once, for suppliers and for buyers."""
