"""The models of all feature folders, imported here because Django looks for them here."""

from .approvals.models import Approval, ApprovalStep
from .budgets.models import Budget, BudgetEntry

__all__ = ["Approval", "ApprovalStep", "Budget", "BudgetEntry"]
