"""Writes that wait for another server, without an open transaction meanwhile."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid5

import orjson
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from core import clock, pipeline, watermark
from core.ids import uuid7

from . import idempotency
from .authentication import authenticator
from .views import ApiViewSet
from .writing import Command, read_body


class DeferredWriteViewSet(ApiViewSet):
    """Base of views with operations that ask another server before they answer.

    The `run` of such an operation prepares, inside a transaction, the request to the other server. Beside the usual
    arguments it takes `mark`, an id that is the same for every repeat under one Idempotency-Key, and new without a key.
    The request must carry it, because two simultaneous repeats are both sent.
    """

    def write_deferred(self, send: Callable[[Any], Any]) -> HttpResponse:
        """Prove, find and run in one transaction; send outside any; keep the answer under the key in another.

        `send` takes what the action returned and returns the JSON value of the answer. A repeat after that gets the first
        answer, and nothing is sent again.
        """
        request: HttpRequest = self.request
        key = idempotency.key_of(request)
        tenant_id = self._tenant_id()
        claim = idempotency.Claim.of(request, key, tenant_id, self.subject) if key else None
        with transaction.atomic():
            proof = authenticator().proof(self.subject, tenant_id)
            actor = self._authorize(tenant_id, pipeline.run([proof, watermark.mark_call(tenant_id)])[0], writing=True)
            earlier = claim.earlier() if claim else None
            if earlier is not None:
                return self._replay(actor, earlier)
            target = self.operation.found(actor, self.kwargs)
            data, _ = read_body(request, self.operation)
            command = Command(actor=actor, data=data, target=target, at=clock.now())
            prepared = self._act(command, {"mark": _mark(claim)})
        response = self.answer(orjson.dumps(send(prepared), default=str), status=self.operation.status)
        if claim is not None:
            self.keep_apart(claim, tenant_id, response)
        return response


def _mark(claim: idempotency.Claim | None) -> UUID:
    """A fresh id, or the one that this Idempotency-Key always has."""
    if claim is None:
        return uuid7()
    tenant_id, subject_id, key = claim.owner
    return uuid5(UUID(tenant_id), f"{subject_id}/{claim.fingerprint}/{key}")
