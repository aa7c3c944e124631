"""The buyer's side as a Django app."""

from django.apps import AppConfig


class ProcurementConfig(AppConfig):
    """One Django app of several feature folders."""

    name = "procurement"
    verbose_name = "Procurement"

    def ready(self) -> None:
        """Register the event types of this app, the rules between its rows, and what orders ask of budgets."""
        from core.invariants import prove_with
        from suppliers.public import ask_budgets

        from .budgets import events  # noqa: F401  # registers the event types
        from .budgets.proof import RULE, breaches
        from .purchasing.budgeting import BUDGETS

        prove_with(RULE, breaches)
        ask_budgets(BUDGETS)
