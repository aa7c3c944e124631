"""Refusals of approvals."""

from core.errors import Conflict, Forbidden


class SeparationOfDuties(Forbidden):
    """Who made, changed or submitted the revision does not decide it, and nobody decides it in that person's place."""

    code = "separation_of_duties"
    title = "Another person must do this."


class AlreadyDecided(Conflict):
    """The approver, or who has stood for the approver, has decided this revision before."""

    code = "already_decided"
    title = "You have decided this revision already."
