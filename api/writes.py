"""Writing: one transaction for the Idempotency-Key, the change, its facts and the stored answer."""

import logging
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar
from uuid import UUID

import orjson
import psycopg
from django.db import DatabaseError, IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from core import clock, pipeline, watermark
from core.actor import Actor
from core.db import needs_transaction
from core.errors import PlatformError
from core.pipeline import Call, ReadBack, Rows
from core.results import Found, Refusal, Revealed

from . import batches, envelopes, idempotency, preconditions
from .authentication import authenticator
from .errors import problem_response
from .filters import check_names
from .listing import one_call
from .operations import Operation
from .reads import ReadingViewSet
from .shapes import Selection, Shape, select
from .writing import Answer, Command, form_digest, read_body

log = logging.getLogger(__name__)

Work = Callable[[Command], Any]
Result = TypeVar("Result")


class WritingViewSet(ReadingViewSet):
    """The writing half of `ApiViewSet`."""

    operations: ClassVar[dict[str, Operation]]
    _last: list[Call]  # what the action leaves to the trip that commits, see `ReadBack.last`

    def write(
        self, work: Work | None = None, *, find: Callable[[Actor], Any] | None = None, **more: Any
    ) -> HttpResponse:
        """Run the operation's action in one transaction and answer what it changed; `more` is passed to the action.

        The order is the contract's: membership, scope, replay, object (404), version (409), body (400), action.
        A view that does other work passes `work`, which takes a `Command`, and `find`, which returns the target.
        """
        request: HttpRequest = self.request
        key = idempotency.key_of(request)
        tenant_id = self._tenant_id()
        claim = (
            idempotency.Claim.of(request, key, tenant_id, self.subject, form=form_digest(request, self.operation))
            if key
            else None
        )
        proof = authenticator().proof(self.subject, tenant_id)
        work = work or (lambda command: self._act(command, more))
        for last in (False, True):
            try:
                return self._write(work, find, tenant_id, proof, claim)
            except (IntegrityError, PlatformError) as error:
                # Of two upserts of one code the slower finds what the faster has created, and replaces it.
                if last or not (self.operation.upsert and _is_taken(error)):
                    raise
            except idempotency.NotClaimed as failure:
                # Report a missing right first, on a connection that works.
                self._authorize(tenant_id, pipeline.run([proof])[0], writing=True)
                if last or not failure.lost:
                    raise failure.reason  # noqa: B904 - its own cause tells what the database said
        raise AssertionError("unreachable")

    def before_transaction(self, prepare: Callable[[dict[str, Any]], Result]) -> Result | None:
        """Run work for which no transaction may wait, such as a network request; `prepare` takes the checked body.

        Return None, without the work, if the caller may not write or the body is invalid. `write` then refuses the
        request, in its own order of checks.
        """
        tenant_id = self._tenant_id()
        try:
            proof = authenticator().proof(self.subject, tenant_id)
            self._authorize(tenant_id, pipeline.run([proof])[0], writing=True)
            data, _ = read_body(self.request, self.operation)
        except PlatformError:
            return None
        return prepare(data)

    def keep_apart(self, claim: idempotency.Claim, tenant_id: UUID, response: HttpResponse) -> None:
        """Store an answer under its key in a transaction of its own, unless a concurrent repeat has stored another.

        The caller is answered in any case.
        """
        try:
            put = claim.put_call(response, secrets=self.operation.secrets)
            pipeline.run([authenticator().proof(self.subject, tenant_id), put])
        except DatabaseError as error:
            log.warning("answer not kept", extra={"error": type(error).__name__})

    # -- what a family of views may add --------------------------------------------------------------------------------

    def extra_calls(self, tenant_id: UUID) -> Sequence[Call]:
        """Return statements to send with the proof of a write; `check_extra` takes their rows."""
        return ()

    def check_extra(self, actor: Actor, rows: Sequence[Rows]) -> None:
        """Refuse a writer because of the rows of `extra_calls`; runs before any replay."""

    def replay_context(self) -> Any:
        """Return a JSON value that is stored with the answer, for `_replay`; None for nothing."""
        return None

    def _replay(self, actor: Actor, replay: idempotency.Replay) -> HttpResponse:
        headers = {**replay.headers, "Idempotency-Replayed": "true"}
        return envelopes.respond(replay.content, status=replay.status, headers=headers)

    # -- the transaction -----------------------------------------------------------------------------------------------

    def _write(
        self,
        work: Work,
        find: Callable[[Actor], Any] | None,
        tenant_id: UUID,
        proof: Call,
        claim: idempotency.Claim | None,
    ) -> HttpResponse:
        located = [] if find else self.operation.located(tenant_id, self.kwargs)
        with transaction.atomic():
            actor, replay, found = self._authorize_and_claim(tenant_id, proof, located, claim)
            if replay is not None:
                return self._replay(actor, replay)
            target = find(actor) if find else self.operation.found(actor, self.kwargs, found)
            self._last = []
            response = self._work(actor, work, target)
            self._commit(response, claim)
            return response

    @needs_transaction
    def _commit(self, response: HttpResponse, claim: idempotency.Claim | None) -> None:
        """Send what the action has left, and store the answer, in the trip that commits."""
        if claim is not None:
            context = self.replay_context()
            claim.keep(response, secrets=self.operation.secrets, context=context, ahead=self._last)
        elif self._last:
            pipeline.run_last(self._last)

    def _authorize_and_claim(
        self, tenant_id: UUID, proof: Call, located: Sequence[Call], claim: idempotency.Claim | None
    ) -> tuple[Actor, idempotency.Replay | None, Sequence[Rows]]:
        """Prove the membership, look up the target and take the key in one round trip.

        If the caller is refused, the key is rolled back. The write is marked for feeds before its instant is read.
        """
        extra = self.extra_calls(tenant_id)
        try:
            mark = watermark.mark_call(tenant_id)
            proven, _, *rows = pipeline.run([proof, mark, *extra, *located, *((claim.call(),) if claim else ())])
        except DatabaseError as error:
            raise idempotency.NotClaimed(error) from error
        actor = self._authorize(tenant_id, proven, writing=True)
        self.check_extra(actor, rows[: len(extra)])
        return actor, claim.replay(rows[-1]) if claim else None, rows[len(extra) : len(extra) + len(located)]

    def _work(self, actor: Actor, work: Work, target: Any) -> HttpResponse:
        request: HttpRequest = self.request
        if self.operation.upsert:
            preconditions.check_upsert(request, target)
        if target is not None:
            preconditions.check_version(request, target)
        declared = (str(one["name"]) for one in self.operation.parameters)
        check_names(request.GET, (*declared, *(("fields", "include") if self.operation.shape else ())))
        data, version = read_body(request, self.operation)
        if self.operation.upsert:
            preconditions.check_upsert(request, target, version)
        if target is not None:
            preconditions.check_version(request, target, version)
        chosen, reading = self._reading(actor)
        late = preconditions.LateCheck(request, version, done=target is not None or self.operation.upsert)
        result = work(Command(actor, data, target, clock.now(), reading, late.check))
        late.refuse_version()
        return self._answer_write(result, chosen, reading, created=self.operation.upsert and target is None)

    def _act(self, command: Command, more: dict[str, Any]) -> Any:
        """Call the operation's action with its arguments."""
        operation = self.operation
        assert operation.run is not None, f"{operation.summary}: no action"
        given = {"actor": command.actor, "target": command.target, "data": command.data, "at": command.at}
        if operation.takes("reading"):
            more = {**more, "reading": command.reading}
        if operation.upsert:
            more = {**{name: value for name, value in self.kwargs.items() if operation.takes(name)}, **more}
        if not batches.is_batch(operation.body):
            return operation.run(*(given[name] for name in operation.arguments()), **more)
        sound = command.data["items"]
        outcomes = operation.run(*(given[name] for name in operation.arguments()), **more) if sound else ()
        return batches.answered(operation.body, command.data, outcomes)

    def read_back_shape(self) -> Shape | None:
        """Return the shape by which a changed object is read for the answer; a view may read fewer tables than others do."""
        return self.operation.shape

    def _reading(self, actor: Actor) -> tuple[Selection, ReadBack | None]:
        """Return the selection of the answer, and the statement that reads the changed object."""
        shape = self.read_back_shape()
        if shape is None:
            return Selection(), None
        chosen = select(shape, self.request.GET.get("fields"), self.request.GET.get("include"))
        tenant_id = actor.tenant_id if shape.tenant_column else None
        return chosen, ReadBack(lambda pk: one_call(shape, chosen, tenant_id, str(pk)), last=self._last)

    def _answer_write(
        self, result: Any, chosen: Selection, reading: ReadBack | None, *, created: bool = False
    ) -> HttpResponse:
        operation = self.operation
        if isinstance(result, Refusal):
            return problem_response(result.error, self.request)
        if isinstance(result, Answer):
            return self.answer(
                result.content, status=result.status or operation.status, headers=result.headers, tag=result.tag
            )
        if operation.status == 204 or operation.shape is None or reading is None:
            return envelopes.respond(b"", status=204)
        row, members = (result.row, result.members) if isinstance(result, Revealed | Found) else (result, None)
        key = getattr(row, operation.shape.key, row.pk)
        rows = pipeline.run([reading.call(key)])[0] if reading.rows is None else reading.rows
        content, version = rows.row()
        tag = preconditions.tag_of(operation.shape, chosen, content, version)
        if members:
            content = orjson.dumps(orjson.loads(content or b"{}") | dict(members))
        status = 200 if isinstance(result, Found) else 201 if created else operation.status
        headers = {"Location": location} if (location := self.location(key, status)) else {}
        return self.answer(content or b"null", status=status, tag=tag, headers=headers)

    def location(self, key: object, status: int) -> str:
        """Where what was created is read; "" where it cannot be. Source: contract, conventions "Statuses".

        A view whose action starts a job (202) overrides it with the job's address.
        """
        if status != 201 or "retrieve" not in self.operations or not (self.operation.upsert or self.action == "create"):
            return ""
        path = str(self.request.path).rstrip("/")
        return path if self.operation.upsert else f"{path}/{key}"


def _is_taken(error: BaseException) -> bool:
    """Tell whether a unique key stands behind an error, or behind the refusal that an action made of it."""
    return isinstance(error.__cause__, psycopg.errors.UniqueViolation) or (
        error.__cause__ is not None and _is_taken(error.__cause__)
    )
