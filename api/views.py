"""The base every viewset stands on: who, how often, in which tenant, with which scope, in one transaction.

A viewset names its `family` and its `operations`; an action that is not among them answers 403. Reads are one round trip
to PostgreSQL (membership proved and tenant bound by the same statement), writes one transaction:

    class ProductViewSet(ApiViewSet):
        family = "supplier"
        operations = {
            "list": Operation(scope="catalog:read", summary="List products", listing=PRODUCTS),
            "update": Operation(scope="catalog:write", summary="Replace a product", body=ProductIn, shape=PRODUCT),
        }

        def list(self, request):
            return self.page()

        def update(self, request, pk):
            return self.write(replace, find=lambda actor: queries.locked_product(actor, pk))

where `replace(command)` calls one action with `command.actor`, `.data`, `.target`, `.at` and returns the changed object.
"""

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, ClassVar, TypeVar
from uuid import UUID

from django.db import DatabaseError, ProgrammingError, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.viewsets import GenericViewSet

from core import clock, pipeline
from core.actor import Actor, Subject
from core.errors import Forbidden, NotFound, PlatformError, Unauthenticated
from core.pipeline import Call, ReadBack, Rows

from . import envelopes, idempotency, metering, preconditions
from .authentication import authenticator, tenant_header
from .errors import MethodNotAllowed, NotAcceptable, problem_response, refusal_of
from .filters import Condition, check_names
from .list_responses import cursor_answer, open_cursor, page_answer
from .listing import Listing, Query, cursor_call, one_call, page_call, positive, read_query
from .permissions import Operation, authorize
from .shapes import Selection, Shape, select
from .writing import Answer, Command, read_body

Work = Callable[[Command], Any]
Result = TypeVar("Result")


class ApiViewSet(GenericViewSet[Any]):
    """Base of all REST viewsets; see the module. `documented` False leaves a view out of the OpenAPI document."""

    family: ClassVar[str] = "organizations"
    documented: ClassVar[bool] = True
    operations: ClassVar[dict[str, Operation]] = {}
    lookup_value_converter = "uuid"
    lookup_url_kwarg = "pk"
    request: HttpRequest  # type: ignore[assignment]  # Django's own: DRF's wrapper costs more than it gives here
    subject: Subject
    operation: Operation

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """DRF's view with all its marks, called without the steps that `dispatch` here has no use for."""
        made: Any = super().as_view(actions, **initkwargs)
        action_map = dict(made.actions)
        if "get" in action_map:
            action_map.setdefault("head", action_map["get"])

        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            self = cls(**initkwargs)
            self.action_map, self.args, self.kwargs = action_map, args, kwargs
            return self.dispatch(request, *args, **kwargs)

        return update_wrapper(view, made)

    # -- the request's way in and out -------------------------------------------------------------------------------

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Prove the credential, count the request, run the action; turn every refusal into its answer."""
        self.request = request
        self.meter = metering.Meter(request)
        subject: Subject | None = None
        try:
            handler = self._handler(request)
            if not self.operation.public:
                subject = self.subject = authenticator().subject(request)
                request.credential = subject.credential  # type: ignore[attr-defined]
                self.meter.enter(subject, self.operation.policy or self.family, costs=self.operation.costs)
            response = handler(request, *args, **kwargs)
        except Exception as error:  # every way out is an answer; what nobody anticipated is logged as a 500
            response = self._refuse(error, request, subject)
        self.meter.write(response)
        return response

    def _handler(self, request: HttpRequest) -> Callable[..., HttpResponseBase]:
        method = (request.method or "").lower()
        action = self.action_map.get("get" if method == "head" else method)
        if action is None:
            raise MethodNotAllowed(headers={"Allow": ", ".join(sorted(name.upper() for name in self.action_map))})
        self.action = action
        operation = self.operations.get(action)
        if operation is None:
            raise Forbidden("The operation declares no scope.")
        self.operation = operation
        self.negotiate(request)
        handler: Callable[..., HttpResponseBase] = getattr(self, self.action)
        return handler

    def negotiate(self, request: HttpRequest) -> None:
        """Refuse a caller that takes no JSON at all.

        :raises NotAcceptable: as said.
        """
        header = request.META.get("HTTP_ACCEPT")
        if header and not any(kind in header for kind in ("json", "*/*", "application/*")):
            raise NotAcceptable("Answers are application/json.")

    def _refuse(self, error: Exception, request: HttpRequest, subject: Subject | None) -> HttpResponse:
        refusal = refusal_of(error)
        if isinstance(refusal, Unauthenticated | Forbidden | NotFound):
            authenticator().report(refusal, request, subject)
        return problem_response(refusal, request)

    # -- reading: one round trip --------------------------------------------------------------------------------------

    def ask(self, calls: Callable[[UUID], Sequence[Call]]) -> tuple[Actor, list[Rows]]:
        """Run statements as the bound tenant in one round trip; their answers count only if the caller may have them."""
        tenant_id = self._tenant_id()
        proof = authenticator().proof(self.subject, tenant_id)
        try:
            rows = pipeline.run([proof, *calls(tenant_id)])
        except (PlatformError, ProgrammingError):
            # A malformed question, or tenant tables shut because nothing was bound: first say who may not ask at all.
            self._enter(tenant_id, pipeline.run([proof])[0], writing=False)
            raise
        return self._enter(tenant_id, rows[0], writing=False), rows[1:]

    def _tenant_id(self) -> UUID:
        return tenant_header(self.request) or authenticator().only_tenant(self.subject)

    def _enter(self, tenant_id: UUID, proof: Rows, *, writing: bool) -> Actor:
        request: HttpRequest = self.request
        actor = authenticator().actor(self.subject, tenant_id, proof, request, writing=writing)
        self.meter.enter_tenant(actor)
        authorize(self.operation, actor)
        return actor

    def reach(self) -> list[Actor]:
        """The subject in each tenant where it may run this operation: the header's one, or all of them.

        :raises Forbidden: nowhere.
        """
        if tenant_header(self.request):
            return [self.ask(lambda _: ())[0]]
        allowed, refusal = [], None
        for actor in authenticator().reach(self.subject, self.request):
            try:
                authorize(self.operation, actor)
                allowed.append(actor)
            except Forbidden as error:
                refusal = error
        if not allowed:
            raise refusal or Forbidden("The subject is not an active member of any tenant.")
        return allowed

    def page(self, *extra: Condition, listing: Listing | None = None, bound: bool = True) -> HttpResponse:
        """Answer a list, in the family's envelope; `extra` conditions narrow it, `bound=False` is for global tables."""
        found = listing or self.operation.listing
        assert found is not None
        supplier = envelopes.supplier_style(self.family, self.subject.credential)
        return (self._page if supplier else self._cursor)(found, extra, bound=bound)

    def _query(self, listing: Listing, extra: Sequence[Condition], *paging: str) -> Query:
        query = read_query(listing, self.request.GET, *paging)
        return Query(query.listing, query.selection, query.order, query.conditions, tuple(extra))

    def _run(self, calls: Callable[[UUID | None], Sequence[Call]], *, bound: bool) -> list[Rows]:
        return self.ask(calls)[1] if bound else pipeline.run(calls(None))

    def _page(self, listing: Listing, extra: Sequence[Condition], *, bound: bool) -> HttpResponse:
        asked: dict[str, int] = {}

        def calls(tenant_id: UUID | None) -> list[Call]:
            query = self._query(listing, extra, "page")
            asked["page"] = positive(self.request.GET.get("page"), 1)
            asked["limit"] = positive(self.request.GET.get("limit"), 20, most=100)
            return [page_call(query, tenant_id, **asked)]

        (rows,) = self._run(calls, bound=bound)
        return page_answer(self.request, rows, **asked)

    def _cursor(self, listing: Listing, extra: Sequence[Condition], *, bound: bool) -> HttpResponse:
        asked: dict[str, Any] = {}

        def calls(tenant_id: UUID | None) -> list[Call]:
            query = asked["query"] = self._query(listing, extra, "cursor")
            limit = asked["limit"] = positive(self.request.GET.get("limit"), 50, most=200)
            asked["tenant_id"] = tenant_id
            after = open_cursor(self.request, query, tenant_id)
            return [cursor_call(query, tenant_id, after=after, limit=limit)]

        (rows,) = self._run(calls, bound=bound)
        return cursor_answer(self.request, rows, **asked)

    def one(
        self, key: object, *, shape: Shape | None = None, extra: Condition | None = None, bound: bool = True
    ) -> HttpResponse:
        """Answer one object with its ETag, or 304.

        :raises NotFound: absent, or not the caller's.
        """
        found = shape or self.operation.shape
        assert found is not None
        asked: dict[str, Selection] = {}

        def calls(tenant_id: UUID | None) -> list[Call]:
            check_names(self.request.GET, ("fields", "include"))
            chosen = asked["selection"] = select(found, self.request.GET.get("fields"), self.request.GET.get("include"))
            return [one_call(found, chosen, tenant_id, str(key), extra)]

        (rows,) = self._run(calls, bound=bound)
        if not len(rows):
            raise NotFound(f"No such {found.name}.")
        content, version = rows.row()
        tag = preconditions.etag((version or b"").decode(), asked["selection"]) if found.version else ""
        return self.answer(content or b"null", tag=tag)

    def answer(
        self, content: bytes, *, tag: str = "", status: int = 200, headers: dict[str, str] | None = None
    ) -> HttpResponse:
        """Answer JSON bytes in the family's single-object envelope."""
        if (
            tag
            and status == 200
            and self.request.method in ("GET", "HEAD")
            and preconditions.matches_none(self.request, tag)
        ):
            response = HttpResponse(status=304)
            response.headers["ETag"] = tag
            return response
        supplier = envelopes.supplier_style(self.family, self.subject.credential if not self.operation.public else "")
        extra = {**(headers or {}), **({"ETag": tag} if tag else {})}
        return envelopes.respond(envelopes.one(content, supplier=supplier), status=status, headers=extra)

    # -- writing: one transaction ------------------------------------------------------------------------------------

    def write(self, work: Work, *, find: Callable[[Actor], Any] | None = None) -> HttpResponse:
        """Run one action in one transaction with the key, the change, the facts and the answer, and answer.

        The order is the contract's: membership, scope, replay, object (404), version (409), body (400), action.
        """
        request: HttpRequest = self.request
        key = idempotency.key_of(request)
        tenant_id = self._tenant_id()
        claim = idempotency.Claim.of(request, key, tenant_id, self.subject) if key else None
        proof = authenticator().proof(self.subject, tenant_id)
        for last in (False, True):
            try:
                return self._write(work, find, tenant_id, proof, claim)
            except idempotency.NotClaimed as failure:
                # On a connection that works, say first who may not ask at all.
                self._enter(tenant_id, pipeline.run([proof])[0], writing=True)
                if last or not failure.lost:
                    raise failure.reason  # noqa: B904 - its own cause tells what the database said
        raise AssertionError("unreachable")

    def ahead(self, ask: Callable[[dict[str, Any]], Result]) -> Result | None:
        """Ask what no transaction may wait for, as the network, about a sound body and for who may write.

        Nothing is refused here, since `write` does that in its order: who may not, or sent something else, gets None.
        """
        tenant_id = self._tenant_id()
        try:
            self._enter(tenant_id, pipeline.run([authenticator().proof(self.subject, tenant_id)])[0], writing=True)
            data, _ = read_body(self.request, self.operation)
        except PlatformError:
            return None
        return ask(data)

    def _write(
        self,
        work: Work,
        find: Callable[[Actor], Any] | None,
        tenant_id: UUID,
        proof: Call,
        claim: idempotency.Claim | None,
    ) -> HttpResponse:
        with transaction.atomic():
            actor, replay = self._enter_and_claim(tenant_id, proof, claim)
            if replay is not None:
                return self._replay(actor, replay)
            response = self._work(actor, work, find(actor) if find else None)
            if claim is not None:
                claim.keep(response, secrets=self.operation.secrets, along=self.alongside())
            return response

    def alongside(self) -> Any:
        """What is kept with an answer, as JSON takes it, for `_replay` to look at; None for nothing."""
        return None

    def _replay(self, actor: Actor, replay: idempotency.Replay) -> HttpResponse:
        headers = {**replay.headers, "Idempotency-Replayed": "true"}
        return envelopes.respond(replay.content, status=replay.status, headers=headers)

    def along(self, tenant_id: UUID) -> Sequence[Call]:
        """Statements that travel with the proof of a write; `admit` is given their answers."""
        return ()

    def admit(self, actor: Actor, rows: Sequence[Rows]) -> None:
        """Refuse a writer for reasons that are looked up; runs before any replay."""

    def _enter_and_claim(
        self, tenant_id: UUID, proof: Call, claim: idempotency.Claim | None
    ) -> tuple[Actor, idempotency.Replay | None]:
        """Prove the membership and take the key in one round trip; if the caller is refused, both are rolled back."""
        try:
            proven, *rows = pipeline.run([proof, *self.along(tenant_id), *((claim.call(),) if claim else ())])
        except DatabaseError as error:
            raise idempotency.NotClaimed(error) from error
        actor = self._enter(tenant_id, proven, writing=True)
        self.admit(actor, rows)
        return actor, claim.replay(rows[-1]) if claim else None

    def _work(self, actor: Actor, work: Work, target: Any) -> HttpResponse:
        request: HttpRequest = self.request
        if target is not None:
            preconditions.check_version(request, target)
        check_names(request.GET, ("fields", "include") if self.operation.shape else ())
        data, version = read_body(request, self.operation)
        preconditions.check_version(request, target, version)
        chosen, reading = self._reading(actor)
        result = work(Command(actor=actor, data=data, target=target, at=clock.now(), reading=reading))
        return self._answer_write(result, chosen, reading)

    def _reading(self, actor: Actor) -> tuple[Selection, ReadBack | None]:
        """What of the changed object is answered, and how it is read."""
        shape = self.operation.shape
        if shape is None:
            return Selection(), None
        chosen = select(shape, self.request.GET.get("fields"), self.request.GET.get("include"))
        tenant_id = actor.tenant_id if shape.tenant_column else None
        return chosen, ReadBack(lambda pk: one_call(shape, chosen, tenant_id, str(pk)))

    def _answer_write(self, result: Any, chosen: Selection, reading: ReadBack | None) -> HttpResponse:
        operation = self.operation
        if isinstance(result, Answer):
            return self.answer(
                result.content, status=result.status or operation.status, headers=result.headers, tag=result.tag
            )
        if operation.status == 204 or operation.shape is None or reading is None:
            return envelopes.respond(b"", status=204)
        rows = pipeline.run([reading.call(result.pk)])[0] if reading.rows is None else reading.rows
        content, version = rows.row()
        headers = {"Location": f"{self.request.path.rstrip('/')}/{result.pk}"} if operation.status == 201 else {}
        tag = preconditions.etag((version or b"").decode(), chosen) if operation.shape.version else ""
        return self.answer(content or b"null", status=operation.status, tag=tag, headers=headers)
