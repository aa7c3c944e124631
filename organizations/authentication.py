"""The authenticator of the API: three separate checks, of the credential, the membership and the scopes.

One statement proves the membership and binds the tenant: `set_config` is in its select list, so it runs only for the
row that proves the membership. Verified credentials are cached for seconds, so that a request is counted against its
rate limit before the database is read. On every request the proof checks that key, session, user and membership are
still valid.
"""

import hashlib
import logging
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple, TypeVar
from uuid import UUID

import orjson
from django.db import Error, connection
from django.http import HttpRequest

from core import pipeline
from core.actor import NOWHERE, Actor, Origin, Subject, SubjectKind
from core.db import OWN
from core.errors import Forbidden, Malformed, PlatformError, Unauthenticated
from core.ids import parse_uuid, uuid7
from core.named_rows import read
from core.pipeline import Call, Rows

from . import api_key_format, membership_sql, smart, tokens, usage
from .origins import address_of, client_address, is_within, origin_of
from .roles import NEVER_BY_MACHINES

log = logging.getLogger(__name__)

K = TypeVar("K")
V = TypeVar("V")

KEY_SECONDS = 30
# The one scheme that Authorization takes; API keys have a header of their own. Source: RFC 9110 section 11.6.1.
CHALLENGE = 'Bearer realm="api"'
INVALID = 'Bearer realm="api", error="invalid_token"'


class CredentialRequired(Unauthenticated):
    """The request has neither X-API-Key nor a bearer token."""

    code = "not_authenticated"


class InvalidCredential(Unauthenticated):
    """The credential is unknown, altered, expired or revoked, or its holder is inactive."""

    code = "invalid_token"
    title = "The credential is invalid or expired."


class TwoCredentials(Malformed):
    """X-API-Key and Authorization were sent together; which one counts would be a guess."""

    code = "invalid_request"
    title = "Send exactly one credential."


class TenantForbidden(Forbidden):
    """The tenant does not exist, or the caller has no active membership in it; the answer is the same."""

    code = "tenant_forbidden"
    title = "There is no active membership in this tenant."


class MembershipForbidden(Forbidden):
    """X-Membership-Id does not name the caller's active membership in this tenant."""

    code = "membership_forbidden"
    title = "This is not your active membership in the tenant."


class TenantSuspended(Forbidden):
    """The state of the tenant does not allow this request."""

    code = "tenant_suspended"
    title = "The tenant is suspended."
    extensions = {"tenant_status": "suspended"}


class TenantRequired(Malformed):
    """X-Tenant-Id is missing, and the caller is a member of several tenants."""

    code = "tenant_required"
    title = "X-Tenant-Id is required."


class AddressForbidden(Forbidden):
    """The key may not be used from this network address."""

    code = "address_forbidden"
    title = "The key may not be used from this address."


class Authenticator:
    """The implementation named by `API_AUTHENTICATOR`; see `api.authentication.Authenticator`."""

    credential_refusals: tuple[type[PlatformError], ...] = (
        CredentialRequired,
        InvalidCredential,
        TwoCredentials,
        AddressForbidden,
    )
    tenant_refusals: tuple[type[PlatformError], ...] = (
        TenantRequired,
        TenantForbidden,
        MembershipForbidden,
        TenantSuspended,
    )

    def __init__(self) -> None:
        self._keys: dict[bytes, tuple[float, Subject, tuple[str, ...]]] = {}
        self._tokens: dict[bytes, tuple[float, Subject]] = {}

    # -- credential ----------------------------------------------------------------------------------------------------

    def subject(self, request: HttpRequest) -> Subject:
        """Prove the one credential of the request.

        :raises Unauthenticated: there is no credential, or it is invalid.
        :raises TwoCredentials: there is an API key and a bearer token.
        """
        key, bearer = request.META.get("HTTP_X_API_KEY"), request.META.get("HTTP_AUTHORIZATION")
        if key is not None and bearer is not None:
            raise TwoCredentials
        if key is not None:
            return self._by_key(key, request)
        if bearer is None:
            raise CredentialRequired(headers={"WWW-Authenticate": CHALLENGE})
        scheme, _, token = bearer.partition(" ")
        if (token or scheme).strip().startswith(api_key_format.PREFIX):
            raise InvalidCredential(
                "An API key is sent in the header X-API-Key, not in Authorization.",
                headers={"WWW-Authenticate": INVALID},
            )
        if scheme.lower() != "bearer" or not token:
            raise InvalidCredential(headers={"WWW-Authenticate": INVALID})
        return self._by_token(token.strip())

    def _by_key(self, text: str, request: HttpRequest) -> Subject:
        digest = hashlib.sha256(text.encode(errors="replace")).digest()
        cached = self._keys.get(digest)
        if cached is None or cached[0] < time.monotonic():
            cached = (time.monotonic() + KEY_SECONDS, *self._read_key(text))
            _bounded(self._keys)[digest] = cached
        address = client_address(request)
        if cached[2] and not is_within(address, cached[2]):
            raise AddressForbidden
        subject = cached[1]
        if subject.bound_tenant_id:
            usage.note(subject.credential, subject.bound_tenant_id, address)
        return subject

    def _read_key(self, text: str) -> tuple[Subject, tuple[str, ...]]:
        plain = api_key_format.parse(text)
        rows = pipeline.run([Call(membership_sql.KEY, [plain.key_id])])[0] if plain else None
        if plain is None or rows is None or not len(rows):
            raise InvalidCredential(headers={"WWW-Authenticate": INVALID})
        (key,) = rows.of(membership_sql.Key)
        if not plain.matches(key.digest):
            raise InvalidCredential(headers={"WWW-Authenticate": INVALID})
        subject = Subject(
            id=key.account_id,
            kind=SubjectKind.SERVICE,
            credential=f"key:{key.id}",
            scopes=_dotted(key.scopes),
            bound_tenant_id=key.tenant_id,
        )
        return subject, tuple(key.allowed_cidrs)

    def _by_token(self, token: str) -> Subject:
        digest = hashlib.sha256(token.encode(errors="replace")).digest()
        cached = self._tokens.get(digest)
        if cached is not None and cached[0] > time.time():
            return cached[1]
        try:
            claims = tokens.verify(token)
        except Unauthenticated as error:
            error.headers.setdefault("WWW-Authenticate", INVALID)
            raise
        session = f"session:{claims.sid}" if claims.sub_type is SubjectKind.USER else f"client:{claims.client_id}"
        subject = Subject(
            id=claims.sub,
            kind=claims.sub_type,
            credential=session,
            scopes=claims.scope,
            bound_tenant_id=claims.tid,
            token_id=claims.jti,
            session_id=claims.sid,
            client_id=claims.client_id,
            acr=claims.acr,
            amr=claims.amr,
            authenticated_at=datetime.fromtimestamp(claims.auth_time, UTC) if claims.auth_time else None,
            patient=claims.patient,
        )
        _bounded(self._tokens)[digest] = (float(claims.exp), subject)
        return subject

    # -- membership ----------------------------------------------------------------------------------------------------

    def proof(self, subject: Subject, tenant_id: UUID) -> Call:
        """The statement that proves the membership and binds the tenant; see `membership_sql`."""
        if subject.bound_tenant_id not in (None, tenant_id):
            raise TenantForbidden
        return membership_sql.one_tenant(subject, tenant_id, OWN)

    def actor(self, subject: Subject, tenant_id: UUID, proof: Rows, request: HttpRequest, *, writing: bool) -> Actor:
        """Make the actor from the rows of the proof.

        :raises InvalidCredential: key, session or holder became invalid since the credential was cached.
        :raises TenantForbidden: there is no active membership, or the tenant is closed.
        :raises MembershipForbidden: X-Membership-Id names another membership.
        :raises TenantSuspended: the tenant's state does not allow the request.
        """
        if not len(proof):
            self._require_valid_credential(subject)
            raise TenantForbidden
        actor, grant = _actor(subject, proof, 0, getattr(request, "request_id", ""), origin_of(request))
        wanted = request.META.get("HTTP_X_MEMBERSHIP_ID")
        if wanted is not None and parse_uuid(wanted) != actor.membership_id:
            raise MembershipForbidden
        status = grant.status
        if status == "closed":
            raise TenantForbidden
        if status != "active" and (writing or status == "provisioning" or not grant.reads_suspended):
            raise TenantSuspended(f"The tenant is {status}.", tenant_status=status)
        request.tenant_id = actor.tenant_id  # type: ignore[attr-defined]
        return actor

    def only_tenant(self, subject: Subject) -> UUID:
        """Return the only tenant that the credential reaches.

        :raises TenantRequired: there are several.
        :raises TenantForbidden: there is none.
        """
        if subject.bound_tenant_id is not None:
            return subject.bound_tenant_id
        found = self._memberships(subject, "", NOWHERE)
        if not found:
            raise TenantForbidden
        if len(found) > 1:
            raise TenantRequired("You are a member of several tenants: name one in X-Tenant-Id.")
        return found[0].tenant_id

    def reach(self, subject: Subject, request: HttpRequest) -> list[Actor]:
        """List the subject as an actor in each tenant that is not closed and where it is an active member."""
        return self._memberships(subject, getattr(request, "request_id", ""), origin_of(request))

    def _memberships(self, subject: Subject, request_id: str, origin: Origin) -> list[Actor]:
        (rows,) = pipeline.run([membership_sql.all_tenants(subject)])
        if not len(rows):
            self._require_valid_credential(subject)
        return [_actor(subject, rows, n, request_id, origin)[0] for n in range(len(rows))]

    def _require_valid_credential(self, subject: Subject) -> None:
        (rows,) = pipeline.run([membership_sql.valid_credential(subject)])
        if not len(rows):
            self._keys.clear()
            raise InvalidCredential(headers={"WWW-Authenticate": INVALID})

    # -- security log --------------------------------------------------------------------------------------------------

    def report(self, refusal: PlatformError, request: HttpRequest, subject: Subject | None) -> None:
        """Write a refusal to the security log in its own transaction; if that fails, the answer is still sent."""
        claimed = parse_uuid(request.META.get("HTTP_X_TENANT_ID", ""))
        match = request.resolver_match
        row = [
            str(uuid7()),
            refusal.code,
            str(subject.id) if subject else "",
            subject.credential if subject else "",
            str(claimed) if claimed else None,
            f"{request.method} {match.route if match else ''}"[:200],
            address_of(request),
            str(getattr(request, "request_id", ""))[:128],
        ]
        try:
            if not connection.in_atomic_block:
                pipeline.run([Call(membership_sql.REPORT, row)])
        except Error:
            log.warning("security log entry not written", extra={"code": refusal.code})


@lru_cache(maxsize=4096)
def _dotted(text: bytes) -> frozenset[str]:
    """Read a JSON list of scopes; `x:y` becomes `x.y`."""
    return _dotted_names(orjson.loads(text))


def _dotted_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.replace(":", ".") for name in names)


class _Grant(NamedTuple):
    """The rights of a membership; `reads_suspended` tells whether the tenant may be read while it is suspended."""

    membership_id: UUID
    tenant_id: UUID
    roles: frozenset[str]
    location_ids: frozenset[UUID]
    status: str
    kinds: frozenset[str]
    features: frozenset[str]
    limits: dict[str, int]
    organization_id: UUID
    scopes: frozenset[str]
    reads_suspended: bool
    practitioner_id: str


@lru_cache(maxsize=4096)
def _grant(raw: tuple[bytes | None, ...]) -> _Grant:
    """Parse one row of a proof; cached by its bytes, since a membership seldom changes between two requests."""
    proof = read(membership_sql.Proof, raw)
    return _Grant(
        membership_id=proof.membership_id,
        tenant_id=proof.tenant_id,
        roles=_dotted(proof.roles),
        location_ids=frozenset(map(UUID, proof.location_ids)),
        status=proof.status,
        kinds=_dotted(proof.kinds),
        features=_dotted(proof.features),
        limits=proof.rate_limits,
        organization_id=proof.organization_id,
        scopes=frozenset().union(*map(_dotted_names, orjson.loads(proof.scopes))),
        reads_suspended=proof.reads_while_suspended,
        practitioner_id=proof.practitioner_id or "",
    )


@lru_cache(maxsize=4096)
def _effective_scopes(
    held: frozenset[str], narrowed: frozenset[str] | None, one_patient: bool, kind: SubjectKind
) -> frozenset[str]:
    """Return the scopes that both the roles and the credential hold; None as `narrowed` keeps those of the roles.

    A token for one patient keeps only the scopes of the clinical record: other data cannot be limited to a patient.
    A machine never has the scopes that are reserved for people, whatever its roles and its list say.
    """
    found = held if narrowed is None else held & smart.implied(narrowed)
    found = found - NEVER_BY_MACHINES if kind is SubjectKind.SERVICE else found
    return found & smart.OF_RECORD if one_patient else found


def _actor(subject: Subject, rows: Rows, number: int, request_id: str, origin: Origin) -> tuple[Actor, _Grant]:
    """Make an actor from one row of a proof."""
    grant = _grant(rows.raw(membership_sql.Proof, number))
    actor = Actor(
        subject=subject,
        tenant_id=grant.tenant_id,
        membership_id=grant.membership_id,
        roles=grant.roles,
        scopes=_effective_scopes(grant.scopes, subject.scopes, bool(subject.patient), subject.kind),
        location_ids=grant.location_ids,
        tenant_kinds=grant.kinds,
        features=grant.features,
        request_id=request_id,
        organization_id=grant.organization_id,
        limits=grant.limits,
        origin=origin,
        practitioner_id=grant.practitioner_id,
    )
    return actor, grant


def _bounded(cache: dict[K, V]) -> dict[K, V]:
    """Return the cache, emptied if it has grown too large."""
    if len(cache) > 20_000:
        cache.clear()
    return cache
