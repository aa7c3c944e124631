"""Refusals of reports."""

from core.errors import Forbidden


class DataScopeMissing(Forbidden):
    """The scope of analytics is not enough for a report of this type."""

    code = "insufficient_scope"
    title = "The credential or role lacks the read scope of the report's data."
    extensions = {"required": ["orders:read"]}
