"""`manage.py register_client`: registers an OAuth client, such as a SMART app, unless one has the same name."""

import json
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from core import clock
from core.actor import system_actor
from organizations.actions.first_credentials import Client, new_client
from organizations.management.base import TenantCommand, locked_tenant, scopes_in
from organizations.models import OAuthApplication
from organizations.oauth import client_keys, clients
from organizations.oauth.client_keys import ClientKeys


class Command(TenantCommand):
    """Register a client of the authorization server."""

    help = (
        "Registers an OAuth client and shows its secret once. With --redirect-uri the client acts for people (code and "
        "PKCE); with --tenant it is a machine of that tenant. It gets tokens once staff approve it, or with --approve. "
        "With --jwks or --jwks-uri it signs with its keys (private_key_jwt) and has no secret."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add arguments for the client and the scopes it may ask for."""
        super().add_arguments(parser)
        parser.add_argument("--name", required=True)
        parser.add_argument(
            "--scopes",
            required=True,
            nargs="+",
            help="separated by spaces or commas: patient/*.rs launch/patient, or system/*.rs",
        )
        parser.add_argument(
            "--redirect-uri",
            action="append",
            dest="redirect_uris",
            help="exact https address; for a native app http://127.0.0.1/path",
        )
        parser.add_argument("--confidential", action="store_true", help="the app can keep a secret")
        parser.add_argument("--tenant", help="slug or id: a machine that acts for this tenant")
        keys = parser.add_mutually_exclusive_group()
        keys.add_argument("--jwks", metavar="FILE", help="JSON Web Key Set with the client's public keys")
        keys.add_argument("--jwks-uri", metavar="URL", help="where the client publishes its key set; https")
        parser.add_argument("--replace-keys", action="store_true", help="an existing client gets these keys")
        parser.add_argument("--approve", action="store_true")

    def work(self, options: dict[str, Any]) -> dict[str, Any]:
        """Register the client unless it exists.

        :raises CommandError: both or neither of redirect URI and tenant were given, a redirect URI is not allowed, or
            the key set cannot be read.
        :raises UnusableKeys: the keys or their address are refused.
        """
        if bool(options["redirect_uris"]) == bool(options["tenant"]):
            raise CommandError("Give --redirect-uri for an app, or --tenant for a machine.")
        keys = _keys(options)
        with transaction.atomic():
            found = OAuthApplication.objects.select_for_update().filter(name=options["name"]).order_by("id").first()
            made = None if found else _make(options, keys)
            row = found or OAuthApplication.objects.get(client_id=made.client_id if made else "")
            if found and keys and options["replace_keys"]:
                clients.replace_keys(found, keys, at=clock.now())
            if options["approve"] and row.approved_at is None:
                clients.approve(row, by=None, at=clock.now())
        return {
            "client_id": row.client_id,
            "client_secret": made.client_secret if made else None,
            "keys": client_keys.named(row),
            "scopes": row.allowed_scopes,
            "approved": row.approved_at is not None,
            "created": made is not None,
        }


def _keys(options: dict[str, Any]) -> ClientKeys | None:
    if options["jwks_uri"]:
        return client_keys.at_address(options["jwks_uri"])
    if not options["jwks"]:
        if options["replace_keys"]:
            raise CommandError("Give --jwks or --jwks-uri to replace the keys.")
        return None
    try:
        return client_keys.inline(json.loads(Path(options["jwks"]).read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        raise CommandError(f"The key set {options['jwks']} cannot be read: {error}") from error


def _make(options: dict[str, Any], keys: ClientKeys | None) -> Client:
    at, scopes = clock.now(), scopes_in(options["scopes"])
    if options["tenant"]:
        tenant = locked_tenant(options["tenant"])
        actor, name = system_actor(tenant.id), options["name"]
        return new_client(actor=actor, tenant=tenant, name=name, at=at, scopes=scopes, keys=keys, approved=False)
    try:
        client, secret = clients.register_application(
            name=options["name"],
            redirect_uris=options["redirect_uris"],
            allowed_scopes=scopes,
            confidential=options["confidential"] or keys is not None,
            keys=keys,
            at=at,
        )
    except ValidationError as error:
        raise CommandError("; ".join(error.messages)) from error
    return Client(client.client_id, secret)
