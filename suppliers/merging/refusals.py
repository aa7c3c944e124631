"""Refusals of a merge."""

from core.errors import Conflict


class MergeRefused(Conflict):
    """The managed supplier cannot be merged into the other one; `errors` names everything that stands against it."""

    code = "merge_refused"
    title = "The supplier cannot be merged."
