"""Writes that wait for another server, without an open transaction meanwhile."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from django.db import Error, transaction
from django.http import HttpRequest, HttpResponse

from core import clock, pipeline
from core.actor import Actor

from . import envelopes, idempotency
from .authentication import authenticator
from .views import ApiViewSet
from .writing import Answer, Command, read_body

log = logging.getLogger(__name__)

Prepared = TypeVar("Prepared")


class DeferredWriteViewSet(ApiViewSet):
    """Base of views with operations that ask another server before they answer."""

    def write_deferred(
        self,
        prepare: Callable[[Command, idempotency.Claim | None], Prepared],
        act: Callable[[Prepared], Answer],
        *,
        find: Callable[[Actor], Any],
    ) -> HttpResponse:
        """Prove, read and prepare in one transaction; act outside any; keep the answer under the key in another.

        A repeat after the end gets the first answer and acts no more. Two at the same moment both act, as neither holds
        anything while it waits: what is sent outside must bear a mark that is made of the key.
        """
        request: HttpRequest = self.request
        key = idempotency.key_of(request)
        tenant_id = self._tenant_id()
        claim = idempotency.Claim.of(request, key, tenant_id, self.subject) if key else None
        with transaction.atomic():
            actor = self._authorize(
                tenant_id, pipeline.run([authenticator().proof(self.subject, tenant_id)])[0], writing=True
            )
            earlier = claim.earlier() if claim else None
            if earlier is not None:
                headers = {**earlier.headers, "Idempotency-Replayed": "true"}
                return envelopes.respond(earlier.content, status=earlier.status, headers=headers)
            target = find(actor)
            data, _ = read_body(request, self.operation)
            prepared = prepare(Command(actor=actor, data=data, target=target, at=clock.now()), claim)
        result = act(prepared)
        response = self.answer(result.content, status=self.operation.status, headers=result.headers)
        if claim is not None:
            self._keep(claim, tenant_id, response)
        return response

    def _keep(self, claim: idempotency.Claim, tenant_id: UUID, response: HttpResponse) -> None:
        """Store the answer unless a concurrent repeat has stored its own; the caller is answered in any case."""
        try:
            with transaction.atomic():
                _, taken = pipeline.run([authenticator().proof(self.subject, tenant_id), claim.call()])
                if len(taken):
                    claim.keep(response, secrets=self.operation.secrets)
        except Error as error:
            log.warning("answer not kept", extra={"error": type(error).__name__})
