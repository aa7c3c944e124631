"""HTTP of the test of an endpoint."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api.deferred_writes import DeferredWriteViewSet
from api.operations import Operation
from organizations.public import LocationForbidden
from webhooks import queries
from webhooks.parts import WebhookViewSet
from webhooks.patterns import UnknownEventPattern
from webhooks.serializers import SampleIn

from .actions import make_sample, send_sample
from .representations import WebhookTestOut


class SampleViewSet(WebhookViewSet, DeferredWriteViewSet):
    """The test of an endpoint."""

    operation_ids = {"test": "testWebhookEndpoint"}
    operations = {
        "test": Operation(
            "Send a signed sample and show the answer",
            "The catalogue's example of the type, marked `test: true` and signed as any message is, goes out at once and "
            "within 15 seconds; a disabled endpoint can be tested too. Nothing of it is kept: neither an event nor a "
            "delivery. With an `Idempotency-Key` a repeat gets the first answer and sends nothing; while the first is "
            "still waiting, a repeat sends the same `webhook-id` again, by which a receiver knows it. What the receiver "
            "did is told in the answer, which is 200 also where nothing was delivered. Ten a minute for a credential.",
            body=SampleIn,
            answer=WebhookTestOut,
            find=queries.endpoint,
            run=make_sample,
            policy="samples",
            errors=(UnknownEventPattern, LocationForbidden),
            example={"type": "product.created"},
        ),
    }

    @action(detail=True, methods=["post"])
    def test(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Send a sample and answer what the receiver did."""
        return self.write_deferred(send_sample)
