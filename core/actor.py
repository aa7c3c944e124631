"""Who acts, in which tenant, with which rights. HTTP-neutral: commands and tasks build one too."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class SubjectKind(StrEnum):
    USER = "user"
    SERVICE = "service"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Subject:
    """Someone whose credential was proven. Says nothing about any tenant.

    `credential` names what was shown ("key:<id>", "session:<sid>", "client:<client_id>"); it is the unit of
    rate limits and never a secret. `scopes` is None for a credential that is not narrowed by scopes.
    `acr`, `amr` and `authenticated_at` say how and when a person signed in; keys and machine clients have none. `amr`
    holds the methods ("pwd", "otp"). Source: RFC 8176; OpenID Connect Core section 2.
    `patient` is the FHIR id of the one patient of the bound tenant whose record the credential reaches, "" for no such bound.
    """

    id: UUID
    kind: SubjectKind
    credential: str
    scopes: frozenset[str] | None = None
    bound_tenant_id: UUID | None = None
    token_id: str = ""
    session_id: str = ""
    client_id: str = ""
    acr: str = ""
    amr: tuple[str, ...] = ()
    authenticated_at: datetime | None = None
    patient: str = ""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from, for audit entries; no right follows from it. Both are "" where there was no request.

    `address` is the client's network address as the trusted proxies tell it, `user_agent` what the client calls itself.
    """

    address: str = ""
    user_agent: str = ""


NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class Actor:
    """A subject inside one tenant, after an active membership was proven there.

    `scopes` are the effective ones (credential and roles), written with dots. `location_ids` empty means all.
    """

    subject: Subject
    tenant_id: UUID
    membership_id: UUID | None
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    location_ids: frozenset[UUID] = frozenset()
    tenant_kinds: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    request_id: str = ""
    organization_id: UUID | None = None
    limits: dict[str, int] = field(default_factory=dict, compare=False)
    origin: Origin = NOWHERE

    @property
    def subject_id(self) -> UUID:
        """The id of the person or service behind the credential."""
        return self.subject.id

    def may(self, scope: str) -> bool:
        """Tell whether the effective scopes hold `scope`; `x:y` and `x.y` are one permission."""
        return scope.replace(":", ".") in self.scopes


SYSTEM = Subject(id=UUID(int=0), kind=SubjectKind.SYSTEM, credential="system")


def system_actor(tenant_id: UUID, *, request_id: str = "") -> Actor:
    """The platform itself acting in a tenant: commands, workers, migrations of data."""
    return Actor(subject=SYSTEM, tenant_id=tenant_id, membership_id=None, request_id=request_id)
