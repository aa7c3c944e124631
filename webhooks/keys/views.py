"""HTTP of an endpoint's signing keys."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.operations import Operation
from organizations.public import LocationForbidden
from webhooks.parts import EndpointPart, WebhookViewSet
from webhooks.queries import locked_endpoint
from webhooks.representations import NewWebhookEndpointOut

from .actions import SecretInUse, revoke_secret, rotate_secret
from .representations import WebhookSecretOut
from .serializers import RotationIn


class SecretViewSet(EndpointPart):
    """The live keys of one endpoint."""

    lookup_url_kwarg = "secret_id"
    serializer_class = WebhookSecretOut
    of_deleted = False
    operation_ids = {"destroy": "revokeWebhookSecret"}
    operations = {
        "list": Operation(
            "List the live signing secrets",
            "At most three: the current one, and those whose overlap has not ended. Never the value.",
        ),
        "destroy": Operation(
            "End the overlap of an older secret now",
            "The current secret cannot be revoked: rotate it with `overlap_seconds` 0.",
            find=locked_endpoint,
            run=revoke_secret,
            errors=(SecretInUse, LocationForbidden),
        ),
    }

    def destroy(self, request: HttpRequest, pk: UUID, secret_id: UUID) -> HttpResponse:
        """End one key; the endpoint is what is locked and gets a new version."""
        return self.write(find=lambda actor: locked_endpoint(actor, pk), secret_id=secret_id)


class RotationViewSet(WebhookViewSet):
    """A new key for one endpoint."""

    operation_ids = {"rotate_secret": "rotateWebhookSecret"}
    operations = {
        "rotate_secret": Operation(
            "Rotate the signing secret",
            "The new key signs at once; older ones sign beside it for `overlap_seconds`. With `signature` the kind of "
            "signature changes too: during the overlap a message carries both. At most three keys are live; one more "
            "ends the oldest.",
            body=RotationIn,
            answer=NewWebhookEndpointOut,
            find=locked_endpoint,
            run=rotate_secret,
            errors=(LocationForbidden,),
            secrets=("secret",),
            example={"overlap_seconds": 86400},
        ),
    }

    @action(detail=True, methods=["post"])
    def rotate_secret(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Run the action and answer the endpoint with its new key."""
        return self.write()
