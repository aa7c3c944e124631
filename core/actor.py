"""The actor: who acts, in which tenant, with which rights. Commands and tasks build actors too, without HTTP."""

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
    """A person or service whose credential was proved; says nothing about any tenant.

    `credential` identifies the credential ("key:<id>", "session:<sid>", "client:<client_id>") and is never a secret. `scopes` is None for a credential that is not narrowed by scopes.
    `acr`, `amr` and `authenticated_at` say how and when a person signed in; keys and machine clients have none. `amr`
    holds the methods ("pwd", "otp"). Source: RFC 8176; OpenID Connect Core section 2.
    `patient` is the FHIR id of the only patient of the bound tenant whose record the credential may reach; "" where the
    credential is not limited to one patient.
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

    @property
    def limited_by(self) -> str:
        """By what rate limits count: a person whatever the session, so that signing in again gives no new budget."""
        return f"user:{self.id}" if self.kind is SubjectKind.USER else self.credential


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a request came from, for audit entries only. Both members are "" where there was no request.

    `address` is the client's network address as reported by the trusted proxies; `user_agent` is the User-Agent header.
    """

    address: str = ""
    user_agent: str = ""


NOWHERE = Origin()


@dataclass(frozen=True, slots=True)
class Actor:
    """A subject in one tenant, after an active membership was proved there.

    `scopes` are the effective scopes (of the roles, as far as the credential holds them), written with dots. Empty
    `location_ids` mean all locations. `practitioner_id` is the FHIR id of the Practitioner that the membership stands for,
    "" where it stands for none.
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
    practitioner_id: str = ""

    @property
    def subject_id(self) -> UUID:
        """The id of the person or service behind the credential."""
        return self.subject.id

    def may(self, scope: str) -> bool:
        """Tell whether the effective scopes contain `scope`; `x:y` and `x.y` are one scope."""
        return scope.replace(":", ".") in self.scopes


SYSTEM = Subject(id=UUID(int=0), kind=SubjectKind.SYSTEM, credential="system")


def system_actor(tenant_id: UUID, *, request_id: str = "") -> Actor:
    """Return the platform itself as an actor in a tenant, for commands, workers and data migrations."""
    return Actor(subject=SYSTEM, tenant_id=tenant_id, membership_id=None, request_id=request_id)
