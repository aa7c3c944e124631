"""Refusals of overrides. Source: contract, prescriptions.md, "Refusals, in order"."""

from core.errors import Forbidden, Unprocessable


class OverrideNotPermitted(Forbidden):
    """The caller holds neither prescriptions.sign nor the role clinical_lead, and gave overrides."""

    code = "override_not_permitted"
    title = "Overrides need prescriptions.sign or the role clinical_lead."


class UnknownIssue(Unprocessable):
    """An override names a fingerprint that the run does not hold."""

    code = "unknown_issue"
    title = "The validation holds no issue with this fingerprint."
    extensions = {"fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}


class OverrideReasonRequired(Unprocessable):
    """An override of a high or contraindicated issue has no reason, or the reason `other` without its text."""

    code = "override_reason_required"
    title = "The override of this issue needs a reason."
    extensions = {"fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}


class OverrideNotAllowed(Unprocessable):
    """The issue cannot be overridden: it is blocking, or contraindicated and the tenant's policy forbids it."""

    code = "override_not_allowed"
    title = "This issue cannot be overridden."
    extensions = {"fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
