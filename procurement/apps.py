"""The buyer's side as a Django app."""

from django.apps import AppConfig


class ProcurementConfig(AppConfig):
    """One Django app of several feature folders."""

    name = "procurement"
    verbose_name = "Procurement"

    def ready(self) -> None:
        """Register event types, the rules between rows, what orders ask of budgets, what is followed, and where approvals lead."""
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
        self._lead()

    def _alert(self) -> None:
        """Let the alerts of overdue approvals follow the facts of orders."""
        from ledger import public as ledger

        from .approvals import alerting

        ledger.after_commit(alerting.SUBSCRIBER, alerting.FOLLOWED)(alerting.follow)

    def _lead(self) -> None:
        """Register where the last approval and a rejection lead an order, by what it is pending for."""
        from suppliers.public import ApprovalFor

        from .purchasing.approving import send_approved
        from .purchasing.change_outcomes import accept_approved, ask_again, drop_change, propose_approved
        from .purchasing.outcomes import decided
        from .purchasing.rejecting import draft_again

        decided(ApprovalFor.SENDING, approved=send_approved, rejected=draft_again)
        decided(ApprovalFor.SUPPLIER_CHANGE, approved=accept_approved, rejected=ask_again)
        decided(ApprovalFor.BUYER_CHANGE, approved=propose_approved, rejected=drop_change)
