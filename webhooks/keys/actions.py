"""Every write to an endpoint's signing keys."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Q

from core.actor import Actor
from core.db import needs_transaction
from core.errors import Conflict, NotFound
from core.ids import uuid7
from core.results import Revealed
from webhooks import changes, events, sealing, signing
from webhooks.models import Endpoint, Secret

LIVE_SECRETS = 3


class SecretInUse(Conflict):
    """The newest key signs for good: without it nothing would be signed once the overlap of the others is over."""

    code: ClassVar[str] = "secret_in_use"
    title: ClassVar[str] = "The current secret cannot be revoked; rotate it with overlap_seconds 0."


def add_secret(endpoint: Endpoint, *, kind: str, at: datetime) -> Revealed:
    """Give an endpoint one more signing key."""
    secret_id = uuid7()
    asymmetric = kind == Secret.Kind.ED25519
    key = signing.new_signing_key() if asymmetric else signing.new_key()
    public_key = signing.public_key_text(key) if asymmetric else ""
    Secret.objects.create(
        id=secret_id,
        tenant_id=endpoint.tenant_id,
        endpoint=endpoint,
        kind=kind,
        sealed_key=sealing.seal_key(key, endpoint_id=endpoint.id, secret_id=secret_id),
        public_key=public_key,
        created_at=at,
        updated_at=at,
    )
    return Revealed(endpoint, {"public_key": public_key} if asymmetric else {"secret": signing.write_secret(key)})


@needs_transaction
def rotate_secret(actor: Actor, endpoint: Endpoint, data: Mapping[str, Any], at: datetime) -> Revealed:
    """Sign with a new key at once; older ones sign beside it until the overlap ends, three live keys at most.

    Without `signature` the new key is of the newest one's kind.
    """
    overlap_seconds: int = data["overlap_seconds"]
    until = at + timedelta(seconds=overlap_seconds)
    live = Secret.objects.of(actor).filter(Secret.VALIDITY.holds_at(at), endpoint=endpoint)
    newest_first = list(live.order_by("-created_at", "-id").values_list("id", "kind"))
    oldest = [secret_id for secret_id, _ in newest_first[LIVE_SECRETS - 1 :]]
    live.filter(id__in=oldest).update_versions(expires_at=at, at=at)
    live.filter(Q(expires_at=None) | Q(expires_at__gt=until)).update_versions(expires_at=until, at=at)
    chosen = data.get("signature") or (newest_first[0][1] if newest_first else Secret.Kind.HMAC)
    shown = add_secret(endpoint, kind=chosen, at=at)
    changes.change(actor=actor, endpoint=endpoint, fact=events.SecretRotated(overlap_seconds=overlap_seconds), at=at)
    return shown


@needs_transaction
def revoke_secret(actor: Actor, endpoint: Endpoint, at: datetime, secret_id: UUID) -> Endpoint:
    """End the overlap of an older key of a locked endpoint now.

    :raises NotFound: the endpoint has no such live key.
    :raises SecretInUse: it is the current one.
    """
    found: Secret | None = (
        Secret.objects.of(actor).filter(Secret.VALIDITY.holds_at(at), endpoint=endpoint, id=secret_id).first()
    )
    if found is None:
        raise NotFound("No such webhook secret.")
    if found.expires_at is None:
        raise SecretInUse
    found.expires_at = at
    found.save_version("expires_at", at=at)
    changes.change(actor=actor, endpoint=endpoint, fact=events.SecretRevoked(secret_id=str(secret_id)), at=at)
    return endpoint
