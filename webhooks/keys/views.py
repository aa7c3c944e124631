"""HTTP of an endpoint's signing keys."""

from typing import Any, ClassVar
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from api.operations import Operation
from api.writing import Command
from webhooks import queries
from webhooks.parts import READ, WRITE, EndpointPart, of_endpoint
from webhooks.representations import NewWebhookEndpointOut

from . import actions, shapes
from .serializers import RotationIn


class SecretViewSet(EndpointPart):
    """The live keys of one endpoint."""

    operation_ids = {"rotate_secret": "rotateWebhookSecret", "revoke_secret": "revokeWebhookSecret"}

    operations: ClassVar[dict[str, Operation]] = {
        "secrets": Operation(
            scope=READ,
            summary="List the live signing secrets",
            description="Three at most: the current one, and those whose overlap has not ended. Never the value.",
            listing=shapes.SECRETS,
        ),
        "rotate_secret": Operation(
            scope=WRITE,
            summary="Rotate the signing secret",
            description="The new key signs at once; older ones sign beside it for `overlap_seconds`. With `signature` the "
            "kind of signature changes too: during the overlap a message carries both. Three keys are live at most; one "
            "more ends the oldest.",
            body=RotationIn,
            answer=NewWebhookEndpointOut,
            secrets=("secret",),
            example={"overlap_seconds": 86400},
        ),
        "revoke_secret": Operation(
            scope=WRITE,
            summary="End the overlap of an older secret now",
            description="The current secret cannot be revoked: rotate it with `overlap_seconds` 0.",
            status=204,
            errors=(actions.SecretInUse,),
        ),
    }

    def secrets(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """The keys that sign now."""
        self.must_exist(pk, deleted=False)
        return self.list_page(of_endpoint(pk))

    def rotate_secret(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Give the endpoint a new signing key."""

        def work(command: Command) -> Any:
            return actions.rotate_secret(
                actor=command.actor,
                endpoint=command.target,
                overlap_seconds=command.data["overlap_seconds"],
                kind=command.data.get("signature"),
                at=command.at,
            )

        return self.write(work, find=lambda actor: queries.locked_endpoint(actor, pk))

    def revoke_secret(self, request: HttpRequest, pk: UUID, secret_id: UUID) -> HttpResponse:
        """End one key."""

        def work(command: Command) -> Any:
            return actions.revoke_secret(
                actor=command.actor, endpoint=command.target, secret_id=secret_id, at=command.at
            )

        return self.write(work, find=lambda actor: queries.locked_endpoint(actor, pk))
