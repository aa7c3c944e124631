"""Refusals of prescriptions that several feature folders raise. Source: contract, prescriptions.md "Refusals"."""

from core.errors import Conflict, Forbidden, Unprocessable
from organizations.public import PartyClosed

SIGN = "prescriptions.sign"
LEAD = "clinical_lead"


class OwnerClosed(PartyClosed):
    """The tenant that issued the prescription is closed; what was received stays readable."""

    code = "owner_closed"
    title = "The tenant that issued the prescription is closed."


class EncounterNotFound(Unprocessable):
    """The record holds no such encounter."""

    code = "encounter_not_found"
    title = "There is no such encounter."


class TemplateNotFound(Unprocessable):
    """There is no such template, or the caller may not see it."""

    code = "template_not_found"
    title = "There is no such template."


class PrescriptionExpired(Conflict):
    """The prescription is no longer good."""

    code = "prescription_expired"
    title = "The prescription has expired."


class PartiallyDispensed(Conflict):
    """Something of the prescription has been dispensed already."""

    code = "partially_dispensed"
    title = "Something of the prescription has been dispensed."


class AlreadyRouted(Conflict):
    """The live route leads to that pharmacy already."""

    code = "already_routed"
    title = "The prescription is routed to that pharmacy already."


class NotThePrescriber(Forbidden):
    """Only the prescriber of record signs."""

    code = "not_the_prescriber"
    title = "Only the prescriber of the prescription may sign it."


class CancelNotPermitted(Forbidden):
    """The caller may not cancel this prescription."""

    code = "cancel_not_permitted"
    title = "You may not cancel this prescription."


class ValidFromOutOfRange(Unprocessable):
    """The first day lies after the last one on which the prescription would be good."""

    code = "valid_from_out_of_range"
    title = "The prescription would expire before it becomes valid."


class WrongPharmacy(Forbidden):
    """The prescription is at another of the pharmacy's places than the caller's."""

    code = "wrong_pharmacy"
    title = "The prescription is at another place than yours."


class UnknownItem(Unprocessable):
    """The prescription has no such item."""

    code = "unknown_item"
    title = "The prescription has no such item."


class SeparationOfDuties(Forbidden):
    """Two steps that two people must take."""

    code = "separation_of_duties"
    title = "Another person must do this."
