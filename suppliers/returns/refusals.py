"""Refusals of returns. Source: contract, supply-invoice.md 4."""

from core.errors import Conflict


class ReturnExceedsReceived(Conflict):
    """More would be returned of lines than was received; `errors` names each line with what is left."""

    code = "return_exceeds_received"
    title = "More would be returned than was received."


class ReturnWindowClosed(Conflict):
    """The supplier takes the goods back no more; `errors` names each line whose window is over."""

    code = "return_window_closed"
    title = "The time in which goods are taken back is over."


class DispositionNotAllowed(Conflict):
    """Goods of lines must not be sold again; `errors` names each line with why."""

    code = "disposition_not_allowed"
    title = "The goods must not be sold again."


class WitnessRequired(Conflict):
    """Controlled goods are destroyed before a second member of the supplier; `errors` names each line."""

    code = "witness_required"
    title = "A witness is required."
