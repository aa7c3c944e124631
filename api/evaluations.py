"""A POST that only reads: what it answers is computed from its body, and nothing but the Idempotency-Key is written."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import orjson
from django.db import transaction
from django.http import HttpResponse

from core import pipeline

from . import idempotency
from .authentication import authenticator
from .filters import check_names
from .views import ApiViewSet
from .writing import read_body


class EvaluatingViewSet(ApiViewSet):
    """Base of views whose POST changes nothing, so that it may read as a role that writes nothing.

    The answer is kept under the key in a transaction of its own; two simultaneous repeats are both computed.
    """

    def evaluate(self, work: Callable[[], Any]) -> HttpResponse:
        """Answer the JSON value that `work` returns, or what was answered before under the same key.

        `work` reads by `self.read`, which tells a missing right first, and takes the body by `self.body` inside of it.
        """
        key = idempotency.key_of(self.request)
        tenant_id = self._tenant_id()
        claim = idempotency.Claim.of(self.request, key, tenant_id, self.subject) if key else None
        if claim is not None and (earlier := self._earlier(claim, tenant_id)) is not None:
            return earlier
        response = self.answer(orjson.dumps(work()), status=self.operation.status)
        if claim is not None:
            self.keep_apart(claim, tenant_id, response)
        return response

    def body(self) -> dict[str, Any]:
        """Return the checked body.

        :raises UnknownParameter, Malformed, InvalidFields: as for any write.
        """
        check_names(self.request.GET, ())
        return read_body(self.request, self.operation)[0]

    def _earlier(self, claim: idempotency.Claim, tenant_id: UUID) -> HttpResponse | None:
        """Return the answer that is kept under the key; None if the key is unused."""
        with transaction.atomic():
            (proof,) = pipeline.run([authenticator().proof(self.subject, tenant_id)])
            actor = self._authorize(tenant_id, proof, writing=False)
            found = claim.earlier()
            return None if found is None else self._replay(actor, found)
