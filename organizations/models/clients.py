"""OAuth clients and their authorization codes."""

import hashlib
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from oauth2_provider.models import AbstractApplication, AbstractGrant, ApplicationManager

from core.ids import uuid7
from core.row_security import LOCAL, REFERENCE
from organizations.roles import NEVER_BY_MACHINES

# What a client with keys stores in place of a secret's digest; no secret has this digest.
NO_SECRET = "sha256_client_secret$$"  # noqa: S105
_RESERVED = sorted(spelled for scope in NEVER_BY_MACHINES for spelled in (scope, scope.replace(".", ":", 1)))
LOOPBACK = ("127.0.0.1", "::1")


class OAuthApplication(AbstractApplication):  # type: ignore[misc]  # the library has no types
    """A client of the authorization server. It gets no token before staff approve it, and no scope beyond its list.

    A machine client acts as its service account; `tenant` binds its tokens to one tenant. `family` is the session id
    of all its machine tokens, so denying that id revokes them together.

    A client authenticates with its secret, or signs with keys: its public keys are the list in `jwks`, as JSON Web Keys,
    or in the key set at `jwks_uri`. A client with keys has no secret.

    Personal data: the member of staff who approved the client.
    """

    user = models.ForeignKey("organizations.User", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    service_account = models.ForeignKey(
        "organizations.ServiceAccount", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    tenant = models.ForeignKey(
        "organizations.Tenant", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    allowed_scopes = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    jwks = models.JSONField(null=True, blank=True)
    jwks_uri = models.CharField(max_length=2048, blank=True, default="", db_default="")
    family = models.UUIDField(default=uuid7, editable=False)
    approved_at = models.DateTimeField(null=True, blank=True)
    approved_by = models.ForeignKey(
        "organizations.User", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = ApplicationManager()

    security: ClassVar = REFERENCE

    class Meta(AbstractApplication.Meta):  # type: ignore[misc]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(authorization_grant_type="client-credentials")
                | models.Q(client_type="confidential", service_account__isnull=False),
                name="organizations_machine_client_has_account",
            ),
            models.CheckConstraint(
                condition=models.Q(authorization_grant_type__in=["authorization-code", "client-credentials"]),
                name="organizations_client_grant_known",
            ),
            models.CheckConstraint(
                condition=~models.Q(authorization_grant_type="client-credentials")
                | ~models.Q(allowed_scopes__overlap=_RESERVED),
                name="organizations_machine_client_no_persons_scope",
            ),
            models.CheckConstraint(condition=models.Q(algorithm="RS256"), name="organizations_client_signs_rs256"),
            models.CheckConstraint(
                condition=models.Q(hash_client_secret=True), name="organizations_client_secret_hashed"
            ),
            models.CheckConstraint(
                condition=models.Q(jwks__isnull=True, jwks_uri="")
                | (models.Q(jwks__isnull=True) | models.Q(jwks_uri=""))
                & models.Q(client_type="confidential", client_secret=NO_SECRET),
                name="organizations_client_keys_or_secret",
            ),
        ]

    @property
    def has_keys(self) -> bool:
        """Tell whether the client signs assertions in place of sending a secret."""
        return self.jwks is not None or bool(self.jwks_uri)

    def natural_key(self) -> tuple[str]:
        """Return the key by which the library's manager looks the client up."""
        return (self.client_id,)

    def get_allowed_schemes(self) -> list[str]:
        """Return the schemes of redirect URIs: https, and http for a public client, on the loopback only (`clean`)."""
        is_public = self.client_type == self.CLIENT_PUBLIC
        return [*super().get_allowed_schemes(), *(("http",) if is_public else ())]

    def clean(self) -> None:
        """Run the library's checks except that for a signing key in the settings: the keys are in a table.

        A native application, which is public, may listen on the loopback: the address is registered without a port, or
        with any, and a request may name any other. Source: RFC 8252 sections 7.3, 8.3.

        :raises django.core.exceptions.ValidationError: a redirect URI is not an exact https address, nor one of the
            loopback.
        """
        if any(_is_plain_elsewhere(uri) for uri in self.redirect_uris.split()):
            text = "http is for native applications on the loopback: http://127.0.0.1/path or http://[::1]/path."
            raise ValidationError({"redirect_uris": text})
        algorithm: str = vars(self)["algorithm"]
        self.algorithm = self.NO_ALGORITHM
        try:
            super().clean()
        finally:
            self.algorithm = algorithm

    def is_usable(self, request: Any) -> bool:
        """Tell whether the client may get tokens: staff have approved it, and any service account is active."""
        if self.approved_at is None:
            return False
        return self.service_account is None or self.service_account.is_active


def _is_plain_elsewhere(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        return parts.scheme == "http" and parts.hostname not in LOOPBACK
    except ValueError:
        return False  # the library's own check refuses it


class _DigestField(models.CharField):  # type: ignore[type-arg]  # Django has no generics at run time
    """Text that is stored as its SHA-256 and looked up by the text. A row must be saved only once."""

    def get_prep_value(self, value: Any) -> Any:
        return None if value is None else hashlib.sha256(str(value).encode()).hexdigest()


class AuthorizationGrant(AbstractGrant):  # type: ignore[misc]  # the library has no types
    """An authorization code, stored as its digest. A used code is kept for a while: its replay revokes its tokens.

    `bound_tenant_id` and `patient` hold the person's choice if the client asked for one patient's record.

    Personal data: that a person let a client act for them; the id of a patient.
    """

    user = models.ForeignKey("organizations.User", on_delete=models.CASCADE, related_name="+")
    code = _DigestField(max_length=255, unique=True)
    acr = models.CharField(max_length=20, default="password")
    amr = ArrayField(models.CharField(max_length=20), default=list)
    authenticated_at = models.DateTimeField(null=True)
    session_id = models.UUIDField(null=True)
    bound_tenant_id = models.UUIDField(null=True)
    patient = models.CharField(max_length=64, blank=True, default="", db_default="")

    security: ClassVar = LOCAL

    class Meta(AbstractGrant.Meta):  # type: ignore[misc]
        indexes = [models.Index(fields=["expires"], name="organizations_grant_expiry")]
