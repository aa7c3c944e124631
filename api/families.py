"""The families of endpoints: which credentials each takes, and how its lists and answers look.

Source: contract, conventions.md "Families". A supplier's program reads pages with a total, a person's client follows
cursors; each expects the same form of answer everywhere in its family.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from core.actor import Subject
from core.errors import Forbidden

_KEY_PREFIX = "key:"


class CredentialNotAccepted(Forbidden):
    """The credential is valid, but the family does not take its kind."""

    code = "credential_not_accepted"
    title = "This kind of credential is not accepted here."


class CredentialKind(StrEnum):
    """The kind of a credential: the API key of a system, or the token of a person or a service."""

    API_KEY = "api_key"
    BEARER = "bearer"


class Envelope(StrEnum):
    """The members around the representation."""

    SUPPLIER = "supplier"  # {"success": true, "data": …}
    PLAIN = "plain"  # {"data": …}
    BUNDLE = "bundle"  # FHIR


@dataclass(frozen=True, slots=True)
class Paging:
    """How a list is paged: by `page` with a total or by `cursor`, and the items on a page by default and at most."""

    parameter: str
    default: int
    most: int


PAGES = Paging("page", 20, 100)
CURSORS = Paging("cursor", 50, 200)
BUNDLES = Paging("_count", 50, 1_000)


@dataclass(frozen=True, slots=True)
class Style:
    """How a family answers one kind of credential; `policy` names the rate limit (`ratelimits.POLICIES`)."""

    envelope: Envelope
    paging: Paging
    policy: str


@dataclass(frozen=True, slots=True)
class Family:
    """A family and its style for each kind of credential; a kind without a style is not accepted.

    `shared` is the style for an API key on addresses that serve both parties of a document (a `supplier_scope`).
    """

    name: str
    styles: Mapping[CredentialKind, Style]
    shared: Style | None = None

    def style(self, kind: CredentialKind, *, supplier_scope: str = "") -> Style:
        """The style of an answer to this kind of credential.

        :raises CredentialNotAccepted: the family does not take the kind at this address.
        """
        found = self.styles.get(kind)
        if found is None and kind is CredentialKind.API_KEY and supplier_scope:
            found = self.shared
        if found is None:
            raise CredentialNotAccepted(
                f"The {self.name} endpoints do not take an API key; sign in for a bearer token."
            )
        return found


def _family(name: str, *, bearer: Style, key: Style | None = None, shared: Style | None = None) -> Family:
    styles = {CredentialKind.BEARER: bearer} | ({CredentialKind.API_KEY: key} if key else {})
    return Family(name, MappingProxyType(styles), shared)


def _plain(policy: str) -> Style:
    return Style(Envelope.PLAIN, CURSORS, policy)


_SUPPLIER = Style(Envelope.SUPPLIER, PAGES, "supplier")
_PROCUREMENT = _plain("procurement")
_ORGANIZATIONS = _plain("organizations")

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        found.name: found
        for found in (
            _family("supplier", bearer=_SUPPLIER, key=_SUPPLIER),
            _family("procurement", bearer=_PROCUREMENT, shared=_PROCUREMENT),
            # these four share one policy, so a client's requests to them count together
            _family("organizations", bearer=_ORGANIZATIONS),
            _family("prescriptions", bearer=_ORGANIZATIONS),
            _family("appointments", bearer=_ORGANIZATIONS),
            _family("platform", bearer=_ORGANIZATIONS, key=_ORGANIZATIONS),
            _family(
                "webhooks",
                bearer=_plain("webhooks_bearer"),
                key=Style(Envelope.SUPPLIER, PAGES, "webhooks_key"),
            ),
            _family("events", bearer=_plain("webhooks_bearer"), key=_plain("webhooks_key")),  # a feed has no pages
            _family("fhir", bearer=Style(Envelope.BUNDLE, BUNDLES, "fhir")),
        )
    }
)


def kind_of(subject: Subject) -> CredentialKind:
    """Return the kind of credential that proved a subject."""
    return CredentialKind.API_KEY if subject.credential.startswith(_KEY_PREFIX) else CredentialKind.BEARER


def style_of(family: str, subject: Subject | None) -> Style:
    """Return how a family answers a subject; without a credential that it takes, as it answers a bearer token."""
    styles = FAMILIES[family].styles
    return styles.get(kind_of(subject) if subject else CredentialKind.BEARER) or styles[CredentialKind.BEARER]


def check_credential(family: str, subject: Subject, *, supplier_scope: str = "") -> Style:
    """Check that the family takes the subject's kind of credential; return the style of the answer.

    The contract puts this check after the tenant's status and before the scope (access.md, check 9).

    :param supplier_scope: the operation's scope for the supplier's side, "" where the address serves one side only.
    :raises CredentialNotAccepted: an API key where none is taken.
    """
    return FAMILIES[family].style(kind_of(subject), supplier_scope=supplier_scope)
