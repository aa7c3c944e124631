"""What of the record one request may touch: the seam where SMART scopes and roles narrow `healthcare.read` and `.write`.

Source: SMART App Launch 2.0, scopes-and-launch-context.html.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial

from core.actor import Actor, Subject
from core.errors import Forbidden
from organizations.public import roles_holding

from .compartments import SHARED
from .resources.types import NUMBERS

CREATE, READ, UPDATE, DELETE, SEARCH = "c", "r", "u", "d", "s"

# Source: contract, access.md, "Roles and scopes".
_RECEPTIONIST = "clinic_receptionist"
_RECEPTIONISTS_TYPES = ("Patient", "Location", "Practitioner")

# The authenticator writes every scope with dots; scopes with a query (`?category=…`) give nothing here.
_SCOPE = re.compile(r"(patient|user|system)/(\*|[A-Z][A-Za-z]+)\.(\*|read|write|c?r?u?d?s?)")
_FIRST_VERSION = {"read": "rs", "write": "cud", "*": "cruds"}
_SMART = ("patient/", "user/", "system/")
_LAUNCH = "launch/patient"


class OutsideScopes(Forbidden):
    """The token's SMART scopes do not reach this type or this interaction."""

    code = "insufficient_scope"
    title = "The token's scopes do not allow this interaction."


@dataclass(frozen=True, slots=True)
class Access:
    """Types with the interactions allowed on each (letters of `cruds`); `grants` None narrows nothing.

    `patient` is the id of the one patient whose compartment may be seen and written, "" for all.
    """

    grants: Mapping[str, frozenset[str]] | None = None
    patient: str = ""

    def allows(self, type_name: str, interaction: str) -> bool:
        """Tell whether a request may do this to resources of a type."""
        return self.grants is None or interaction in self.grants.get(type_name, ())

    def may_search(self, type_name: str) -> bool:
        """Tell whether resources of a type may be found, by search, chains and includes."""
        return type_name in NUMBERS and self.allows(type_name, SEARCH)

    def demand(self, type_name: str, interaction: str) -> None:
        """Hold a request against its scopes.

        :raises OutsideScopes: they do not reach so far.
        """
        if not self.allows(type_name, interaction):
            wanted = f"user/{type_name}.{interaction}"
            challenge = f'Bearer error="insufficient_scope", scope="{wanted}"'
            raise OutsideScopes(f"This needs a scope as {wanted}.", headers={"WWW-Authenticate": challenge})

    def types(self, interaction: str) -> tuple[str, ...] | None:
        """The types an interaction is allowed on; None for all."""
        return None if self.grants is None else tuple(name for name in NUMBERS if self.allows(name, interaction))


UNNARROWED = Access()


def access_of(actor: Actor) -> Access:
    """What the actor's token and roles leave of his rights.

    A receptionist reads three types, unless another role of the platform that he holds reads all.
    """
    found = of_subject(actor.subject)
    if _RECEPTIONIST not in actor.roles or actor.roles & _other_readers():
        return found
    return Access(
        {name: frozenset(filter(partial(found.allows, name), READ + SEARCH)) for name in _RECEPTIONISTS_TYPES},
        found.patient,
    )


def of_subject(subject: Subject) -> Access:
    """What a credential leaves, before it is known which roles its holder has."""
    return narrowed(subject.scopes, subject.patient)


@lru_cache(maxsize=1)
def _other_readers() -> frozenset[str]:
    return roles_holding("healthcare.read") - {_RECEPTIONIST}


@lru_cache(maxsize=4096)
def narrowed(scopes: frozenset[str] | None, patient: str = "") -> Access:
    """What a token's scopes leave; those without SMART scopes leave all that the roles give.

    Of a token that is bound to a patient all scopes reach his compartment only, `user/` ones too, and what is in nobody's
    compartment may be read. A `patient/` scope in a token that is not bound gives nothing.
    """
    smart = [scope for scope in scopes or () if scope.startswith(_SMART) or (scope == _LAUNCH and not patient)]
    if not smart:
        return _of_patient(dict.fromkeys(NUMBERS, "cruds"), patient) if patient else UNNARROWED
    grants: dict[str, str] = dict.fromkeys(NUMBERS, "")
    for match in filter(None, map(_SCOPE.fullmatch, smart)):
        if match[1] == "patient" and not patient:
            continue
        for name in NUMBERS if match[2] == "*" else (match[2],):
            grants[name] = grants.get(name, "") + _FIRST_VERSION.get(match[3], match[3])
    return _of_patient(grants, patient)


def _of_patient(grants: Mapping[str, str], patient: str) -> Access:
    most = {name: READ + SEARCH if patient and name in SHARED else "cruds" for name in grants}
    return Access({name: frozenset(letters) & frozenset(most[name]) for name, letters in grants.items()}, patient)
