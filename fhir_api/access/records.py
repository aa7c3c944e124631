"""Writing the record of a read. No record, no answer: it is written before the answer leaves, or the read fails."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from core.actor import Actor
from core.arrays import array_literal
from core.db import run_bound
from core.errors import Malformed, PlatformError
from core.ids import uuid7_text
from core.pipeline import Call, Statement
from fhir_api.definitions.facts import PATIENTS_TYPES

SHORTEST_REASON, LONGEST_REASON = 10, 500
LONGEST_PARAMETER = 80

COLUMNS: Final = 15  # parameters that `values` gives a statement with `NOTED`, its first ones
NOTED: Final = """noted AS (
  INSERT INTO fhir_api_accessrecord (created_at, id, tenant_id, subject_id, subject_kind, credential, membership_id,
    request_id, interaction, resource_type, resource_id, parameters, patients, count, outcome, reason)
  VALUES (clock_timestamp(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::int + {count}, $14, $15)
  RETURNING created_at, id, tenant_id, patients),
named AS (
  INSERT INTO fhir_api_accesspatient (created_at, id, tenant_id, patient)
  SELECT created_at, id, tenant_id, patient FROM noted, unnest(patients) AS patient RETURNING 1)"""
_RECORD = Statement.of(f"WITH {NOTED.format(count=0)} SELECT 1")


class InvalidReason(Malformed):
    """X-Break-Glass-Reason is not 10 to 500 printable characters."""

    code = "invalid_break_glass_reason"
    title = "The reason for emergency access is malformed."


@dataclass(slots=True, eq=False)
class Access:
    """One read as its record tells it, filled in as far as the read has come.

    `parameters` are names of search parameters that the search knows, never values. `patients` are ids (`patients_of`).
    `count` is how many resources were answered, `outcome` the status, `reason` what `reason_of` found.
    """

    interaction: str
    type: str = ""
    fhir_id: str = ""
    parameters: Sequence[str] = ()
    patients: Sequence[str] = ()
    count: int = 0
    outcome: int = 200
    reason: str = ""

    @property
    def counts(self) -> bool:
        """Tell whether patients' data was asked for: by the type, by all types, by the way, or because it came along."""
        return bool(not self.type or self.type in PATIENTS_TYPES or self.patients or any(map(_leads, self.parameters)))

    def kept(self) -> list[Any]:
        """The arguments that make it again, but for the reason."""
        shown = (list(self.parameters), list(self.patients), self.count, self.outcome)
        return [self.interaction, self.type, self.fhir_id, *shown]


class Revealing(PlatformError):
    """A refusal that answers a question about the record, as whether criteria match or a patch's test holds.

    `access` is its record, which the face writes after what was begun is rolled back.
    """

    access: Access | None = None


def _leads(parameter: str) -> bool:
    """Tell whether a parameter asks something of patients' data, as `_has:Patient:general-practitioner:family`."""
    return ":" in parameter and not PATIENTS_TYPES.isdisjoint(parameter.replace(".", ":").split(":"))


def call(actor: Actor, access: Access) -> Call:
    """The statement that writes the record, for a trip in which the tenant is bound."""
    return Call(_RECORD, values(actor, access))


def values(actor: Actor, access: Access) -> list[str | bytes | None]:
    """The parameters of `NOTED`; its statement adds to the count what it finds itself."""
    return [
        uuid7_text(),
        str(actor.tenant_id),
        str(actor.subject.id),
        str(actor.subject.kind),
        actor.subject.credential,
        str(actor.membership_id) if actor.membership_id else None,
        actor.request_id,
        access.interaction,
        access.type,
        access.fhir_id,
        array_literal(sorted({name[:LONGEST_PARAMETER] for name in access.parameters})),
        array_literal(access.patients),
        str(access.count),
        str(access.outcome),
        access.reason,
    ]


def record(actor: Actor, *reads: Access) -> None:
    """Write records in a trip of their own, or as part of the open transaction; reads of no patient's data have none."""
    written = [call(actor, access) for access in reads if access.counts]
    if written:
        run_bound(actor.tenant_id, written)


def record_read(actor: Actor, patients: Iterable[str], what: Access) -> None:
    """Write the record of a read of patients' data that another app keeps, also where it is of no patient.

    `what` names the interaction (`read`, `verified`, `appt.list` …), the kind and the id of what was read, how much of it,
    and with which end. The read is answered only once this has returned.
    """
    run_bound(actor.tenant_id, [call(actor, replace(what, patients=sorted(set(patients))))])


def reason_of(header: str | None) -> str:
    """The reason for reading in an emergency (X-Break-Glass-Reason), "" for none. It grants nothing and marks the record.

    Source: HIPAA 45 CFR 164.312(a)(2)(ii); contract, access.md: header hints never grant anything.

    :raises InvalidReason: too short, too long, or not printable.
    """
    if header is None:
        return ""
    text = header.strip()
    if not SHORTEST_REASON <= len(text) <= LONGEST_REASON or not text.isprintable():
        raise InvalidReason(f"X-Break-Glass-Reason takes {SHORTEST_REASON} to {LONGEST_REASON} printable characters.")
    return text
