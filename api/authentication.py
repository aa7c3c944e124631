"""What the API asks of the floor that knows subjects and memberships; the implementation is named in settings."""

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
    """Credential → Subject (401), membership → Actor (403).

    The OpenAPI document names the refusals: `credential_refusals` with every operation that needs a credential,
    `tenant_refusals` with every one that runs in a tenant.
    """

    credential_refusals: tuple[type[PlatformError], ...]
    tenant_refusals: tuple[type[PlatformError], ...]

    def subject(self, request: HttpRequest) -> Subject:
        """Prove the credential.

        :raises Unauthenticated: none, two, invalid, expired or denied.
        """

    def proof(self, subject: Subject, tenant_id: UUID) -> Call:
        """The statement that finds the active membership and, only where there is one, binds the tenant."""

    def actor(self, subject: Subject, tenant_id: UUID, proof: Rows, request: HttpRequest, *, writing: bool) -> Actor:
        """Read the proof.

        :raises Forbidden: no membership, another X-Membership-Id, a suspended tenant.
        """

    def only_tenant(self, subject: Subject) -> UUID:
        """The subject's single tenant, for a request without X-Tenant-Id.

        :raises Malformed: there are several.
        """

    def reach(self, subject: Subject, request: HttpRequest) -> list[Actor]:
        """The subject in each tenant where it is an active member."""

    def report(self, refusal: PlatformError, request: HttpRequest, subject: Subject | None) -> None:
        """Write a refusal to the security log, outside any transaction."""


_known = lru_cache(maxsize=8_192)(parse_uuid)


@lru_cache(maxsize=1)
def authenticator() -> Authenticator:
    """The authenticator named by `API_AUTHENTICATOR`."""
    factory: Callable[[], Authenticator] = import_string(settings.API_AUTHENTICATOR)
    return factory()


def tenant_header(request: HttpRequest) -> UUID | None:
    """X-Tenant-Id, or None when absent.

    :raises InvalidTenantHeader: not a UUID in canonical form.
    """
    raw = request.META.get("HTTP_X_TENANT_ID")
    if raw is None:
        return None
    found = _known(raw)
    if found is None:
        raise InvalidTenantHeader("X-Tenant-Id holds a UUID.")
    return found
