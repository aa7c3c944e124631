"""The models of all feature folders, imported here because Django looks for them here."""

from .budgets.models import Budget, BudgetEntry

__all__ = ["Budget", "BudgetEntry"]
