"""What a dispensation must satisfy beside its quantities. Source: contract, prescriptions.md "Refusals, in order"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

from core.actor import Actor
from prescriptions.lifecycle.expiry import start_of
from prescriptions.lifecycle.models import PrescriptionItem
from prescriptions.lifecycle.refusals import SeparationOfDuties
from prescriptions.lifecycle.routes import demand_good
from prescriptions.lifecycle.targets import LockedPrescription
from prescriptions.medications.comparison import Comparison, compare
from prescriptions.medications.queries import knowledge
from prescriptions.vocabularies import THERAPEUTIC

from .gathering import Grounds, is_controlled
from .refusals import (
    HandedOverAtOutOfRange,
    IdentityCheckRequired,
    LotNumberRequired,
    NotYetValid,
    ProductExpired,
    SubstitutionNotAllowed,
    SubstitutionNotVerifiable,
    SubstitutionRequired,
    WitnessRequired,
)

_GRACE: Final = timedelta(minutes=5)
Code = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Given:
    """A line that hands something over, with its item."""

    item: PrescriptionItem
    line: Mapping[str, Any]

    @property
    def ordered(self) -> Code | None:
        """The code of what was prescribed; None for free text."""
        held = self.item.medication
        return (held["system"], held["code"]) if held else None

    @property
    def product(self) -> Code | None:
        """The code of what is handed over, where the line names it."""
        held = self.line["product"]
        return (held["system"], held["code"]) if held else None

    @property
    def is_substituted(self) -> bool:
        """Tell whether the line says that it is another product."""
        said = self.line["substitution"]
        return bool(said and said["was_substituted"])

    @property
    def is_compared(self) -> bool:
        """Tell whether the two products must be compared by the tables of medications."""
        return self.ordered is not None and self.product is not None and self.product != self.ordered


def demand_another_person(actor: Actor, target: LockedPrescription) -> None:
    """Refuse the signer of the prescription, unless the owner's policies let prescribers dispense.

    :raises SeparationOfDuties: as named.
    """
    if target.row.signed_by == actor.subject_id and not target.policies["dispensing_prescriber_allowed"]:
        raise SeparationOfDuties


def demand_times(target: LockedPrescription, handed_over_at: datetime, at: datetime) -> None:
    """Refuse an instant that is out of range, or at which the prescription is not good.

    :raises HandedOverAtOutOfRange, PrescriptionExpired, NotYetValid: as named, in this order.
    """
    row, route = target.row, target.route
    assert route is not None
    earliest = max(route.routed_at, at - timedelta(hours=target.policies["late_dispense_hours"]))
    if not earliest <= handed_over_at <= at + _GRACE:
        raise HandedOverAtOutOfRange
    demand_good(row, handed_over_at)
    if row.valid_from and handed_over_at < start_of(row.valid_from, target.zone):
        raise NotYetValid(valid_from=row.valid_from.isoformat())


def demand_facts(
    target: LockedPrescription, grounds: Grounds, given: Sequence[Given], data: Mapping[str, Any], day: date
) -> None:
    """Refuse lines that lack what law or policies ask for; `day` is the local date of handing over.

    :raises LotNumberRequired, ProductExpired, SubstitutionRequired, SubstitutionNotVerifiable, SubstitutionNotAllowed,
        IdentityCheckRequired, WitnessRequired: as named, in this order.
    """
    if grounds.needs_lot_number and any(not one.line["lot_number"] for one in given):
        raise LotNumberRequired
    if any(one.line["expires_on"] and one.line["expires_on"] < day for one in given):
        raise ProductExpired
    _demand_substitutions(target, given)
    controlled = any(is_controlled(one.item) for one in given)
    if controlled and not (data["receiver"] or {}).get("id_checked"):
        raise IdentityCheckRequired
    _demand_witness(target, grounds, is_needed=controlled, named=data["witness"] is not None)


def _demand_substitutions(target: LockedPrescription, given: Sequence[Given]) -> None:
    for one in given:
        said = one.line["substitution"] or {}
        whole = one.is_substituted and said["type"] and said["reason"]
        if (one.is_compared or one.is_substituted) and not whole:
            raise SubstitutionRequired
    compared = [one for one in given if one.is_compared]
    found = _compared(target, compared)
    if Comparison.UNKNOWN in found:
        raise SubstitutionNotVerifiable
    if any(is_forbidden(one) for one in given) or Comparison.DIFFERENT in found:
        raise SubstitutionNotAllowed


def is_forbidden(one: Given) -> bool:
    """Tell whether the item forbids the substitution, or it is a therapeutic exchange."""
    return one.is_substituted and (not one.item.substitution_allowed or one.line["substitution"]["type"] in THERAPEUTIC)


def _compared(target: LockedPrescription, given: Sequence[Given]) -> list[Comparison]:
    pairs = [(one.ordered, one.product) for one in given if one.ordered and one.product]
    if not pairs:
        return []
    known = knowledge(target.owner_id, [code for pair in pairs for code in pair]).medications
    return [compare(known.get(ordered), known.get(product)) for ordered, product in pairs]


def _demand_witness(target: LockedPrescription, grounds: Grounds, *, is_needed: bool, named: bool) -> None:
    """Demand another person of the pharmacy who may dispense, where a policy asks for it or a witness is named."""
    is_needed = is_needed and target.policies["controlled_witness_required"]
    found, actor = grounds.witness, target.actor
    is_sound = found is not None and found.membership_id != actor.membership_id and found.subject_id != actor.subject_id
    if (is_needed or named) and not is_sound:
        raise WitnessRequired
