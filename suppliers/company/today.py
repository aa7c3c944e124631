"""The date at the supplier, by which prices and offers hold. Source: contract, supply.md 4 "Today"."""

from organizations.public import today_call, today_of, today_sql

__all__ = ["today_call", "today_of", "today_sql"]
