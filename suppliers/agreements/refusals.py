"""Refusals of price agreements."""

from core.errors import Conflict, Malformed


class AgreementOverlap(Conflict):
    """Lines of other agreements hold for the same goods, quantities and days; `errors` names each line of this one."""

    code = "agreement_overlap"
    title = "Another agreement in force holds for the same goods, quantity and days."


class AgreementImmutable(Conflict):
    """What was proposed, or has ended, does not change; `status` of the version is `state`."""

    code = "agreement_immutable"
    title = "The agreement cannot be changed in its state."
    extensions = {"state": "proposed"}


class AgreementExhausted(Conflict):
    """Lines ask for more than their agreement has left, or it is in force no more; `errors` names each."""

    code = "agreement_exhausted"
    title = "The agreement has less left."


class DraftOutdated(Conflict):
    """Another version was accepted since the draft was written; a PATCH of the draft, even an empty one, confirms its terms."""

    code = "draft_outdated"
    title = "Another version was accepted since the draft was written."
    extensions = {"revision": 2}


class SelfTrade(Malformed):
    """Buyer and supplier of a document differ."""

    code = "self_trade"
    title = "A tenant cannot trade with itself."
