"""Reading: one round trip to PostgreSQL, in which the statement that proves the membership also binds the tenant."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, ClassVar
from uuid import UUID

from django.db import ProgrammingError
from django.http import HttpRequest, HttpResponse
from rest_framework.viewsets import GenericViewSet

from core import pipeline
from core.actor import Actor, Subject
from core.conditions import Condition, all_of
from core.errors import Forbidden, NotFound, PlatformError
from core.pipeline import Call, Rows

from . import envelopes, feeds, metering, preconditions
from .authentication import authenticator, tenant_header
from .families import CURSORS, PAGES, Envelope, Style, check_credential, style_of
from .filters import check_names
from .list_responses import asked_limit, asked_page, cursor_answer, open_cursor, page_answer
from .listing import Listing, Query, cursor_call, one_call, page_call, read_query
from .operations import Operation
from .permissions import authorize
from .shapes import Selection, Shape, select


class ReadingViewSet(GenericViewSet[Any]):
    """The reading half of `ApiViewSet`."""

    family: ClassVar[str]
    binds_tenant: ClassVar[bool]
    restriction: ClassVar[Condition | None]
    lookup_url_kwarg: str
    request: HttpRequest  # type: ignore[assignment]  # Django's own; DRF's wrapper costs time
    subject: Subject
    operation: Operation
    meter: metering.Meter

    @cached_property
    def style(self) -> Style:
        """How the family answers this caller's kind of credential."""
        return style_of(self.family, None if self.operation.public else self.subject)

    # -- in which tenant -----------------------------------------------------------------------------------------------

    def read(self, calls: Callable[[UUID], Sequence[Call]]) -> tuple[Actor, list[Rows]]:
        """Run statements in one round trip, in the tenant that the proof binds; return the actor and the rows.

        `calls` makes the statements from the tenant's id. A caller who is not authorized gets a refusal, not the rows.
        """
        tenant_id = self._tenant_id()
        proof = authenticator().proof(self.subject, tenant_id)
        try:
            rows = pipeline.run([proof, *calls(tenant_id)])
        except (PlatformError, ProgrammingError):
            # The query is malformed, or no tenant was bound, so its tables are closed. Report a missing right first.
            self._authorize(tenant_id, pipeline.run([proof])[0], writing=False)
            raise
        return self._authorize(tenant_id, rows[0], writing=False), rows[1:]

    def actor(self) -> Actor:
        """Return the caller as an actor in the request's tenant, for views that read by other means.

        :raises Forbidden: the caller is not an active member, or lacks the operation's scope.
        """
        return self.read(lambda _: ())[0]

    def actors_in_reach(self) -> list[Actor]:
        """Return an actor for each tenant in which the subject may run this operation; with X-Tenant-Id, for that one.

        :raises Forbidden: there is no such tenant.
        """
        if tenant_header(self.request):
            return [self.actor()]
        allowed, refusal = [], None
        for actor in authenticator().reach(self.subject, self.request):
            try:
                self._check(actor)
                allowed.append(actor)
            except Forbidden as error:
                refusal = error
        if not allowed:
            raise refusal or Forbidden("The subject is not an active member of any tenant.")
        return allowed

    def _tenant_id(self) -> UUID:
        return tenant_header(self.request) or authenticator().only_tenant(self.subject)

    def _authorize(self, tenant_id: UUID, proof: Rows, *, writing: bool) -> Actor:
        """Read the proof of membership, count the request in its tenant, and check the operation's demands."""
        actor = authenticator().actor(self.subject, tenant_id, proof, self.request, writing=writing)
        self.meter.enter_tenant(actor)
        self._check(actor)
        return actor

    def _check(self, actor: Actor) -> None:
        check_credential(self.family, actor.subject, supplier_scope=self.operation.supplier_scope)
        authorize(self.operation, actor)

    # -- lists ---------------------------------------------------------------------------------------------------------

    def restrictions(self) -> Sequence[Condition]:
        """Return the conditions on every row that the view reads, beside its tenant; by default `restriction`."""
        return (self.restriction,) if self.restriction else ()

    def list_page(self, *extra: Condition, listing: Listing | None = None) -> HttpResponse:
        """Answer a list, in the family's envelope.

        `extra` conditions narrow the list. `listing` replaces the operation's own, and the view's restrictions do not
        apply to it.
        """
        found = listing or self.operation.listing
        assert found is not None
        narrowed = [*(() if listing else self.restrictions()), *extra]
        return (self._page if self.style.paging is PAGES else self._cursor)(found, narrowed)

    def _query(self, listing: Listing, extra: Sequence[Condition], *paging: str) -> Query:
        query = read_query(listing, self.request.GET, *paging)
        narrowed = Query(query.listing, query.selection, query.order, query.conditions, tuple(extra))
        return feeds.bounded(narrowed) if self.binds_tenant else narrowed

    def before_answer(self, actor: Actor, contents: Sequence[bytes]) -> None:
        """Called with the JSON of the objects that a list or a `GET` is about to answer; by default does nothing.

        A view of patients' data writes its access record here; if that fails, nothing is answered.
        """

    def before_list(self, actor: Actor, patients: Sequence[str]) -> None:
        """Called instead of `before_answer` before a cursor list is answered whose shape says whose its rows are.

        `patients` has an id for each row.
        """

    def _run(self, calls: Callable[[UUID | None], Sequence[Call]]) -> tuple[Actor | None, list[Rows]]:
        return self.read(calls) if self.binds_tenant else (None, pipeline.run(calls(None)))

    def _tell(self, actor: Actor | None, rows: Rows, column: int, most: int) -> None:
        if actor is not None:
            self.before_answer(actor, [found for n in range(min(len(rows), most)) if (found := rows.value(n, column))])

    def _page(self, listing: Listing, extra: Sequence[Condition]) -> HttpResponse:
        asked: dict[str, int] = {}

        def calls(tenant_id: UUID | None) -> list[Call]:
            query = self._query(listing, extra, "page")
            asked.update(asked_page(self.request.GET))
            return feeds.with_end(query, tenant_id, page_call(query, tenant_id, **asked))

        actor, (*_, rows) = self._run(calls)
        self._tell(actor, rows, 1, asked["limit"])
        return page_answer(self.request, rows, **asked)

    def _cursor(self, listing: Listing, extra: Sequence[Condition]) -> HttpResponse:
        asked: dict[str, Any] = {}

        def calls(tenant_id: UUID | None) -> list[Call]:
            query = asked["query"] = self._query(listing, extra, "cursor")
            limit = asked["limit"] = asked_limit(self.request.GET, CURSORS)
            asked["tenant_id"] = tenant_id
            after = open_cursor(self.request, query, tenant_id)
            return feeds.with_end(query, tenant_id, cursor_call(query, tenant_id, after=after, limit=limit))

        actor, (*_, rows) = self._run(calls)
        if actor is not None and listing.shape.whose:
            column, shown = 1 + len(asked["query"].order.keys), range(min(len(rows), asked["limit"]))
            self.before_list(actor, [(rows.value(number, column) or b"").decode() for number in shown])
        else:
            self._tell(actor, rows, 0, asked["limit"])
        return cursor_answer(self.request, rows, **asked)

    # -- one object ----------------------------------------------------------------------------------------------------

    def retrieve_one(
        self, key: object = None, *, shape: Shape | None = None, extra: Condition | None = None
    ) -> HttpResponse:
        """Answer one object with its ETag, or 304; `key` replaces the id in the path.

        :raises NotFound: the object does not exist, or the caller may not see it.
        """
        found = shape or self.operation.shape
        assert found is not None
        key = self.kwargs[self.lookup_url_kwarg] if key is None else key
        conditions = [*self.restrictions(), *([extra] if extra else [])]
        asked: dict[str, Selection] = {}

        def calls(tenant_id: UUID | None) -> list[Call]:
            check_names(self.request.GET, ("fields", "include"))
            chosen = asked["selection"] = select(found, self.request.GET.get("fields"), self.request.GET.get("include"))
            return [one_call(found, chosen, tenant_id, str(key), all_of(conditions))]

        actor, (rows,) = self._run(calls)
        if not len(rows):
            raise NotFound(f"No such {found.name}.")
        self._tell(actor, rows, 0, 1)
        content, version = rows.row()
        return self.answer(content or b"null", tag=preconditions.tag_of(found, asked["selection"], content, version))

    def answer(
        self, content: bytes, *, tag: str = "", status: int = 200, headers: dict[str, str] | None = None
    ) -> HttpResponse:
        """Answer JSON bytes in the family's single-object envelope."""
        is_read = status == 200 and self.request.method in ("GET", "HEAD")
        if tag and is_read and preconditions.matches_none(self.request, tag):
            response = HttpResponse(status=304)
            response.headers["ETag"] = tag
            return response
        supplier = self.style.envelope is Envelope.SUPPLIER
        extra = {**(headers or {}), **({"ETag": tag} if tag else {})}
        return envelopes.respond(envelopes.one(content, supplier=supplier), status=status, headers=extra)
