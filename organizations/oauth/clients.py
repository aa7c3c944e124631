"""Actions on OAuth clients: register, approve, withdraw the approval, renew the secret, replace the keys."""

from datetime import datetime
from typing import Any

from django.db import transaction
from oauth2_provider.generators import generate_client_secret

from core.db import needs_transaction
from core.errors import Conflict, FieldError, InvalidFields
from core.ids import uuid7
from organizations.models import OAuthApplication, ServiceAccount, SignInSession, Tenant, User
from organizations.models.clients import NO_SECRET
from organizations.signin import sessions

from . import scopes
from .client_keys import ClientKeys


class UngrantableScope(InvalidFields):
    """A listed scope is unknown, or is never granted to this kind of client."""

    code = "ungrantable_scope"
    title = "A scope cannot be granted to this client."


class ClientHasKeys(Conflict):
    """The client signs with keys, so it has no secret to renew."""

    code = "client_has_keys"
    title = "The client has keys in place of a secret."


class PublicClient(Conflict):
    """The client is public, so it authenticates with nothing."""

    code = "public_client"
    title = "A public client can have no keys."


@needs_transaction
def register_machine(
    *,
    name: str,
    service_account: ServiceAccount,
    tenant: Tenant | None,
    allowed_scopes: list[str],
    keys: ClientKeys | None = None,
    at: datetime,
) -> tuple[OAuthApplication, str]:
    """Register a confidential client that acts as a service account; it gets tokens only after approval.

    :param tenant: the one tenant that the client's tokens are bound to, if any.
    :param keys: with which the client signs in place of a secret.
    :returns: the client and its secret, of which only the digest is stored; "" for a client with keys.
    :raises UngrantableScope: a scope is unknown, or is never granted to machine clients.
    """
    secret = "" if keys else generate_client_secret()
    client = OAuthApplication(
        name=name,
        client_type=OAuthApplication.CLIENT_CONFIDENTIAL,
        authorization_grant_type=OAuthApplication.GRANT_CLIENT_CREDENTIALS,
        algorithm=OAuthApplication.RS256_ALGORITHM,
        **_credential(keys, secret),
        service_account=service_account,
        tenant=tenant,
        allowed_scopes=allowed_scopes,
    )
    _check_scopes(client)
    client.save(force_insert=True)
    return client, secret


@needs_transaction
def register_application(
    *,
    name: str,
    redirect_uris: list[str],
    allowed_scopes: list[str],
    confidential: bool,
    keys: ClientKeys | None = None,
    at: datetime,
) -> tuple[OAuthApplication, str]:
    """Register a client that acts for people (authorization code with PKCE); it gets tokens only after approval.

    :param keys: with which a confidential client signs in place of a secret.
    :returns: the client and its secret, which is "" for a public client and for one with keys.
    :raises PublicClient: keys are given for a public client.
    :raises UngrantableScope: a scope is unknown.
    :raises django.core.exceptions.ValidationError: a redirect URI is not an exact https address.
    """
    if keys and not confidential:
        raise PublicClient
    secret = "" if keys else generate_client_secret()
    kinds = {True: OAuthApplication.CLIENT_CONFIDENTIAL, False: OAuthApplication.CLIENT_PUBLIC}
    client = OAuthApplication(
        name=name,
        client_type=kinds[confidential],
        authorization_grant_type=OAuthApplication.GRANT_AUTHORIZATION_CODE,
        algorithm=OAuthApplication.RS256_ALGORITHM,
        **_credential(keys, secret),
        redirect_uris=" ".join(redirect_uris),
        allowed_scopes=allowed_scopes,
    )
    _check_scopes(client)
    client.clean()
    client.save(force_insert=True)
    return client, secret if confidential else ""


@needs_transaction
def approve(client: OAuthApplication, *, by: User | None, at: datetime) -> None:
    """Approve a client, so that it can get tokens; `by` is the member of staff, or None for an operator's command."""
    client.approved_at, client.approved_by = at, by
    client.save(update_fields=["approved_at", "approved_by", "updated"])


@needs_transaction
def withdraw(client: OAuthApplication, *, at: datetime) -> int:
    """Withdraw a client's approval, and end all its sessions and machine tokens at once.

    :returns: the number of people's sessions that ended.
    """
    locked = OAuthApplication.objects.select_for_update().get(pk=client.pk)
    sessions.deny([str(locked.family)], at=at)
    locked.approved_at, locked.approved_by, locked.family = None, None, uuid7()
    locked.save(update_fields=["approved_at", "approved_by", "family", "updated"])
    still_open = SignInSession.objects.filter(client_id=locked.client_id, ended_at__isnull=True)
    users = set(still_open.values_list("user_id", flat=True))
    return sum(
        sessions.end_all(user, reason="client_withdrawn", at=at, client_id=locked.client_id) for user in sorted(users)
    )


def renew_secret(client: OAuthApplication) -> str:
    """Give a client a new secret; the old one stops working at once.

    :raises ClientHasKeys: the client has no secret.
    """
    if client.has_keys:
        raise ClientHasKeys
    secret = generate_client_secret()
    with transaction.atomic():
        client.client_secret = secret
        client.save(update_fields=["client_secret", "updated"])
    return str(secret)


@needs_transaction
def replace_keys(client: OAuthApplication, keys: ClientKeys, *, at: datetime) -> None:
    """Give a client new keys; the old ones, or its secret, stop working at once.

    :raises PublicClient: the client is public.
    """
    if client.client_type != OAuthApplication.CLIENT_CONFIDENTIAL:
        raise PublicClient
    values = _credential(keys, "")
    for name, value in values.items():
        setattr(client, name, value)
    client.save(update_fields=[*values, "updated"])


def _credential(keys: ClientKeys | None, secret: str) -> dict[str, Any]:
    """Return the columns that prove who a client is."""
    if keys is None:
        return {"client_secret": secret}
    return {"jwks": keys.jwks, "jwks_uri": keys.uri, "client_secret": NO_SECRET}


def _check_scopes(client: OAuthApplication) -> None:
    granted = scopes.grantable(client) | {scopes.INTROSPECTION}
    wrong = [scope for scope in client.allowed_scopes if scope.replace(":", ".") not in granted]
    if wrong:
        message = f"Cannot be granted: {', '.join(wrong)}."
        raise UngrantableScope(errors=[FieldError("allowed_scopes", "ungrantable_scope", message)])
