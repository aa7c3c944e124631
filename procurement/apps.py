"""The buyer's side as a Django app."""

from django.apps import AppConfig


class ProcurementConfig(AppConfig):
    """One Django app of several feature folders."""

    name = "procurement"
    verbose_name = "Procurement"

    def ready(self) -> None:
        """Register event types, the rules between rows, what orders ask of budgets, and what is followed."""
        from core.invariants import prove_with
        from suppliers.public import ask_budgets

        from .approvals import proof as approvals
        from .budgets import events  # noqa: F401  # registers the event types
        from .budgets import proof as budgets
        from .purchasing.budgeting import BUDGETS

        prove_with(budgets.RULE, budgets.breaches)
        prove_with(approvals.RULE, approvals.breaches)
        ask_budgets(BUDGETS)
        self._alert()
        self._spend()

    def _alert(self) -> None:
        """Let the alerts of overdue approvals follow the facts of orders."""
        from ledger import public as ledger

        from .approvals import alerting

        ledger.after_commit(alerting.SUBSCRIBER, alerting.FOLLOWED)(alerting.follow)

    def _spend(self) -> None:
        """Let budgets follow the approvals of invoices."""
        from ledger import public as ledger

        from .purchasing import spending

        ledger.after_commit(spending.SUBSCRIBER, spending.FOLLOWED)(spending.follow)
