"""The interface of authentication; `API_AUTHENTICATOR` in settings names its implementation."""

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string

from core.actor import Actor, Subject
from core.errors import Malformed, PlatformError
from core.ids import parse_uuid
from core.pipeline import Call, Rows


class InvalidTenantHeader(Malformed):
    """X-Tenant-Id is not a UUID."""

    code = "invalid_tenant_header"
    title = "X-Tenant-Id is malformed."


class Authenticator(Protocol):
    """Proof of credentials (else 401) and of memberships (else 403).

    The OpenAPI document lists `credential_refusals` for every operation that needs a credential, and `tenant_refusals`
    for every operation that runs in a tenant.
    """

    credential_refusals: tuple[type[PlatformError], ...]
    tenant_refusals: tuple[type[PlatformError], ...]

    def subject(self, request: HttpRequest) -> Subject:
        """Prove the credential.

        :raises Unauthenticated: there is no credential, or two; or it is invalid, expired or denied.
        """

    def proof(self, subject: Subject, tenant_id: UUID) -> Call:
        """Return the statement that finds the active membership and, only if it exists, binds the tenant."""

    def actor(self, subject: Subject, tenant_id: UUID, proof: Rows, request: HttpRequest, *, writing: bool) -> Actor:
        """Make the actor from the rows of the proof.

        :raises Forbidden: there is no active membership, X-Membership-Id names another one, or the tenant is suspended.
        """

    def only_tenant(self, subject: Subject) -> UUID:
        """Return the subject's single tenant, for a request without X-Tenant-Id.

        :raises Malformed: the subject has several tenants.
        """

    def reach(self, subject: Subject, request: HttpRequest) -> list[Actor]:
        """Return an actor for each tenant in which the subject is an active member."""

    def report(self, refusal: PlatformError, request: HttpRequest, subject: Subject | None) -> None:
        """Write a refusal to the security log, outside any transaction."""


_cached_uuid = lru_cache(maxsize=8_192)(parse_uuid)


@lru_cache(maxsize=1)
def authenticator() -> Authenticator:
    """Return the authenticator named by `API_AUTHENTICATOR`."""
    factory: Callable[[], Authenticator] = import_string(settings.API_AUTHENTICATOR)
    return factory()


def tenant_header(request: HttpRequest) -> UUID | None:
    """Return X-Tenant-Id, or None when absent.

    :raises InvalidTenantHeader: the header is not a UUID in canonical form.
    """
    raw = request.META.get("HTTP_X_TENANT_ID")
    if raw is None:
        return None
    found = _cached_uuid(raw)
    if found is None:
        raise InvalidTenantHeader("X-Tenant-Id must be a UUID.")
    return found
