"""A POST that only reads: what it answers is computed from its body, and nothing but the Idempotency-Key is written."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import orjson
from django.http import HttpResponse

from core.actor import Actor
from core.pipeline import Call, Rows

from . import idempotency
from .filters import check_names
from .views import ApiViewSet
from .writing import read_body


class EvaluatingViewSet(ApiViewSet):
    """Base of views whose POST changes nothing, so that it may read as a role that writes nothing.

    The answer is kept under the key in a transaction of its own; two simultaneous repeats are both computed.
    """

    def evaluate(
        self, looks: Callable[[UUID], Sequence[Call]], work: Callable[[Actor, Sequence[Rows]], Any]
    ) -> HttpResponse:
        """Answer the JSON value that `work` makes of the rows of `looks`, or what was answered before under the same key.

        `looks` makes the statements from the tenant's id; it takes the body by `self.body`, so that a missing right is told
        before what is wrong with the body.
        """
        key = idempotency.key_of(self.request)
        tenant_id = self._tenant_id()
        claim = idempotency.Claim.of(self.request, key, tenant_id, self.subject) if key else None
        seen = [claim.seen_call()] if claim else []
        actor, rows = self.read(lambda bound: [*seen, *looks(bound)])
        if claim is not None and (earlier := claim.seen(rows[0])) is not None:
            return self._replay(actor, earlier)
        content = orjson.dumps(work(actor, rows[len(seen) :]))
        response = self.answer(content, status=self.operation.status)
        if claim is not None:
            self.keep_apart(claim, tenant_id, response)
        return response

    def body(self) -> dict[str, Any]:
        """Return the checked body.

        :raises UnknownParameter, Malformed, InvalidFields: as for any write.
        """
        check_names(self.request.GET, ())
        return read_body(self.request, self.operation)[0]
