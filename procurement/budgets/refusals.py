"""Refusals of budgets."""

from core.errors import Conflict, Unprocessable


class CurrencyMismatch(Unprocessable):
    """The budget is in another currency than the document, and nothing is converted."""

    code = "currency_mismatch"
    title = "The currencies differ."
    extensions = {"currency": "EUR"}


class BudgetExceeded(Conflict):
    """More would be committed and spent than the amount of the budget; `available` is what is left of it now."""

    code = "budget_exceeded"
    title = "The budget does not suffice."
    extensions = {"available": {"amount": "120.50", "currency": "EUR"}}
