"""Refusals of dispensing. Source: contract, prescriptions.md "Refusals, in order" and "Dispensing"."""

from core.errors import Conflict, Unprocessable


class HandedOverAtOutOfRange(Unprocessable):
    """The instant of handing over lies before the routing, too far back, or in the future."""

    code = "handed_over_at_out_of_range"
    title = "handed_over_at is out of range."


class NotYetValid(Conflict):
    """The prescription is valid from a later day on."""

    code = "not_yet_valid"
    title = "The prescription is not valid yet."
    extensions = {"valid_from": "2026-03-01"}


class UnitMismatch(Unprocessable):
    """A line counts in another unit than the item."""

    code = "unit_mismatch"
    title = "A line is in another unit than its item."


class OverDispensed(Conflict):
    """A line gives more than what remains of the fill."""

    code = "over_dispensed"
    title = "That is more than what remains of this fill."
    extensions = {"item_id": "0197b0c8-7b7e-7000-8000-000000000001", "remaining": "7"}


class TooEarly(Conflict):
    """The next fill is not due yet."""

    code = "too_early"
    title = "The next fill is too early."
    extensions = {"item_id": "0197b0c8-7b7e-7000-8000-000000000001", "earliest_at": "2026-03-01T08:00:00.000Z"}


class LotNumberRequired(Unprocessable):
    """The pharmacy's policies ask for the lot number of each line."""

    code = "lot_number_required"
    title = "A lot number is required."


class ProductExpired(Unprocessable):
    """A product was past its last day when it was handed over."""

    code = "product_expired"
    title = "The product has expired."


class SubstitutionRequired(Unprocessable):
    """Another product than the one prescribed needs a substitution with type and reason."""

    code = "substitution_required"
    title = "Another product needs a substitution with its type and reason."


class SubstitutionNotVerifiable(Unprocessable):
    """The tables of medications do not tell whether the two products are the same."""

    code = "substitution_not_verifiable"
    title = "The substitution cannot be verified."


class SubstitutionNotAllowed(Unprocessable):
    """The item forbids substitution, or the product is another medication."""

    code = "substitution_not_allowed"
    title = "The substitution is not allowed."


class IdentityCheckRequired(Unprocessable):
    """Controlled medications are handed over to a person whose identity was checked."""

    code = "identity_check_required"
    title = "The identity of the receiver must be checked."


class WitnessRequired(Unprocessable):
    """A second person of the pharmacy who may dispense must witness."""

    code = "witness_required"
    title = "Another member of the pharmacy who may dispense must witness."


class ReversalWindowClosed(Conflict):
    """The dispensation was recorded too long ago to be reversed."""

    code = "reversal_window_closed"
    title = "The time in which a dispensation may be reversed is over."
