"""Refusals of orders."""

from core.errors import Conflict, FieldError


class SupplierNotQualified(Conflict):
    """The supplier may take no new orders now."""

    code = "supplier_not_qualified"
    title = "The supplier takes no new orders now."


class RelationshipBlocked(Conflict):
    """The buyer's relationship to the supplier stops orders."""

    code = "relationship_blocked"
    title = "The relationship to the supplier stops orders."


class SpendLimitExceeded(Conflict):
    """More would be ordered of the supplier in the period than the relationship allows; `available` is what is left."""

    code = "spend_limit_exceeded"
    title = "The limit of spending with the supplier does not suffice."
    extensions = {"available": {"amount": "120.50", "currency": "EUR"}}


class NotOnFormulary(Conflict):
    """The relationship does not approve the product, or blocks it; `errors` names each line."""

    code = "not_on_formulary"
    title = "A product is not approved."


class PriceChanged(Conflict):
    """Prices are others than when the draft was written; `errors` names each line with `old` and `new`."""

    code = "price_changed"
    title = "A price has changed."


class LicenseMissing(Conflict):
    """The delivery location holds no licence for a controlled product; `errors` names each line."""

    code = "license_missing"
    title = "The delivery location lacks a licence."


class AllocationExceeded(Conflict):
    """In a shortage the offer gives one buyer less; `errors` names each line with what is left."""

    code = "allocation_exceeded"
    title = "The share of the buyer in a shortage does not suffice."


class CancellationNotAllowed(Conflict):
    """The order was accepted before, or the supplier does not allow it any more."""

    code = "cancellation_not_allowed"
    title = "The order cannot be cancelled any more."


class AlreadyShipped(Conflict):
    """Something of the order is shipped or being prepared."""

    code = "already_shipped"
    title = "Something of the order is shipped already."


class OpenDelivery(Conflict):
    """Something is in preparation or on the way, and nobody has said what became of it."""

    code = "open_delivery"
    title = "A delivery of the order is still open."


class OpenInvoice(Conflict):
    """Something that was received is not invoiced yet."""

    code = "open_invoice"
    title = "An invoice of the order is still to come."


class RevisionChanged(Conflict):
    """Another revision than the one that the caller has read; `revision` is the present one."""

    code = "revision_changed"
    title = "The order was changed since it was read."
    extensions = {"revision": 2}


class SubstitutionNotAllowed(Conflict):
    """The buyer's `substitution_policy` does not take the substitute; `errors` names each line."""

    code = "substitution_not_allowed"
    title = "The buyer takes no such substitute."


def on_lines(code: str, messages: dict[int, str]) -> list[FieldError]:
    """Return an error for each line, by its place in the list of lines."""
    return [FieldError(f"lines.{number}", code, message) for number, message in sorted(messages.items())]
