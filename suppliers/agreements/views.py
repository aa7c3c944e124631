"""HTTP of price agreements, for both parties."""

from functools import lru_cache
from typing import Any, Final
from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse
from rest_framework.decorators import action

from api import preconditions
from api.families import Paging
from api.filters import check_names
from api.list_responses import asked_limit
from api.operations import Operation
from api.page_numbers import InvalidPage, positive
from api.shapes import Selection, select
from api.sorts import ORDERING_FIELDS, SortBy
from api.two_sides import SIDE_PARAMETER, TwoSidedViewSet
from api.writing import Command
from core.conditions import TENANT
from core.errors import FieldError, InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.pipeline import Call, Statement
from organizations.public import CounterpartyOnly, PartyClosed
from suppliers.catalog.refusals import FieldLocked

from .acts import accept, decline, propose
from .changes import change
from .drafts import create_draft
from .filters import PriceAgreementFilters
from .finding import OF_ACCEPTED, OF_DRAFTS, OF_PROPOSALS, AgreementAt, Target, side_of
from .life import terminate
from .models import AGREEMENTS
from .refusals import AgreementExhausted, AgreementImmutable, AgreementOverlap, DraftOutdated, SelfTrade
from .representations import FIRST_PAGE, PriceAgreementOut, PriceAgreementWithLinesOut
from .serializers import BODY_BYTES, DeclineIn, PriceAgreementChangeIn, PriceAgreementIn, TerminateIn
from .shapes import ROWS, lines_sql
from .states import DRAFT, Side

_READ: Final = "pricing:read"
_WRITE: Final = "pricing:write"
_SHAPE: Final = PriceAgreementWithLinesOut.shape
_PAGING: Final = Paging("page", FIRST_PAGE, FIRST_PAGE)
_ORDER: Final = ", ".join(f"'{state}'" for state in OF_ACCEPTED)
# $1 the id, $2 the tenant, $3 the revision or null, $4 whether the draft is asked for.
_CHOSEN: Final = (
    f"(SELECT t.* FROM {ROWS} t WHERE t.tenant_id = {TENANT} AND (t.agreement_id = $1::uuid OR t.id = $1::uuid)"
    " AND ($3::bigint IS NULL OR t.revision = $3::bigint) AND (NOT $4::boolean OR t.status = 'draft')"
    f" ORDER BY array_position(ARRAY[{_ORDER}], t.status), t.revision DESC LIMIT 1) t"
)
_PAGE: Final = Statement.of(
    f"SELECT ({lines_sql('$5::int', '$6::int')})::text, t.lines_total::text FROM {_CHOSEN}".replace(TENANT, "$2")
)
_PARAMETERS: Final = (
    {
        "name": "revision",
        "in": "query",
        "description": "A version by its number, or `draft`. By default the accepted one, else the one that waits for an answer, "
        "else the own draft, else the newest.",
        "schema": {"type": "string", "pattern": "^([1-9][0-9]{0,8}|draft)$"},
    },
    {"name": "page", "in": "query", "description": "The page of lines.", "schema": {"type": "integer", "minimum": 1}},
    {
        "name": "limit",
        "in": "query",
        "description": "Lines on a page.",
        "schema": {"type": "integer", "minimum": 1, "maximum": FIRST_PAGE, "default": FIRST_PAGE},
    },
)


@lru_cache(maxsize=256)
def _one(selection: Selection) -> str:
    """The SQL of one agreement: JSON, version, and the side of the tenant in it."""
    return (
        f"SELECT row_to_json(r)::text, t.version::text, t.side FROM {_CHOSEN}"
        f" CROSS JOIN LATERAL (SELECT {_SHAPE.select(selection)}) r".replace(TENANT, "$2")
    )


class PriceAgreementViewSet(TwoSidedViewSet):
    """Price agreements of the tenant, as their buyer or as their supplier."""

    family = "procurement"
    tag = "Price agreements"
    scope_prefix = "procurement."
    filters_by_both = True
    buyer_feature = "procurement"
    serializer_class = PriceAgreementOut
    filterset_class = PriceAgreementFilters
    ordering_fields = (*ORDERING_FIELDS, SortBy("agreement_number", "number"))
    operations = {
        "list": Operation(
            "List price agreements",
            "Each version of an agreement is an item of its own, with the id of the agreement; superseded ones only with "
            "`status`. Drafts are seen by their author alone. `from` and `to` keep what holds on a day of the period, "
            "`category` what has a line of this very category, `search` word beginnings of the number and of the other "
            "party's name.",
            supplier_scope=_READ,
        ),
        "create": Operation(
            "Create a price agreement",
            "As a draft, which the other party cannot see before it is proposed. One's own side is filled in. Lines name "
            "products and categories of the supplier; products need not be offered yet. A larger agreement is built by "
            "`PATCH` with `lines_mode` `merge`.",
            body=PriceAgreementIn,
            body_limit=BODY_BYTES,
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_WRITE,
            parameters=(SIDE_PARAMETER,),
            run=create_draft,
            errors=(SelfTrade, InvalidFields),
        ),
        "retrieve": Operation(
            "Get a price agreement",
            "With at most 100 of its lines; `page` reads the rest. `consumed` of a line is what was ordered at it so far.",
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_READ,
            parameters=_PARAMETERS,
            errors=(InvalidPage, InvalidFields),
        ),
        "partial_update": Operation(
            "Update a price agreement",
            "Changes the own draft. Where a version was accepted, it begins a draft of the next one with its terms. `status` is "
            "sent by itself, with a `reason` at most, and is that of the accepted version: `suspended` lets the agreed prices rest, "
            "`active` lets them hold again. With "
            "`lines_mode` `replace` the lines are those of the body, with `merge` only the lines that it names change. The "
            "currency stays while lines stay.",
            body=PriceAgreementChangeIn,
            body_limit=BODY_BYTES,
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_WRITE,
            find=AgreementAt(AGREEMENTS, order=OF_DRAFTS, is_serial=True),
            run=change,
            errors=(
                PartyClosed,
                VersionConflict,
                AgreementImmutable,
                AgreementOverlap,
                FieldLocked,
                InvalidTransition,
                InvalidFields,
            ),
        ),
        "terminate": Operation(
            "Terminate a price agreement",
            "Gives notice: the agreement ends on `notice_date`, the first day on which it does not hold any more, by the date "
            "at the supplier; today ends it at once. Until then it stays as it is, with `terminates_on`. A notice can be brought "
            "forward, not put off. A next version that waits for an answer is declined. Open orders keep their prices.",
            scope="procurement.approve",
            body=TerminateIn,
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_WRITE,
            find=AgreementAt(AGREEMENTS, order=OF_ACCEPTED, is_serial=True),
            run=terminate,
            errors=(PartyClosed, VersionConflict, InvalidTransition, InvalidFields),
        ),
        "propose": Operation(
            "Propose a price agreement",
            "Sends the own draft to the other party. With a managed supplier, who has no users, it takes effect at once.",
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_WRITE,
            find=AgreementAt(AGREEMENTS, order=OF_DRAFTS),
            run=propose,
            errors=(
                InvalidFields,
                PartyClosed,
                VersionConflict,
                InvalidTransition,
                DraftOutdated,
                AgreementOverlap,
                AgreementExhausted,
            ),
        ),
        "accept": Operation(
            "Accept a price agreement",
            "The version takes effect; the one accepted before it is superseded in the same moment. No two lines of a buyer's "
            "agreements may hold for the same goods, quantity and day.",
            scope="procurement.approve",
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_WRITE,
            find=AgreementAt(AGREEMENTS, order=OF_PROPOSALS, is_serial=True),
            run=accept,
            errors=(
                PartyClosed,
                CounterpartyOnly,
                VersionConflict,
                InvalidTransition,
                AgreementOverlap,
                AgreementExhausted,
            ),
        ),
        "decline": Operation(
            "Decline a price agreement",
            "A version that was accepted before it goes on.",
            scope="procurement.approve",
            body=DeclineIn,
            answer=PriceAgreementWithLinesOut,
            supplier_scope=_WRITE,
            find=AgreementAt(AGREEMENTS, order=OF_PROPOSALS),
            run=decline,
            errors=(PartyClosed, CounterpartyOnly, VersionConflict, InvalidTransition),
        ),
    }

    def side_of(self, target: Target) -> str:
        """Return the caller's side."""
        return side_of(target).value

    def create(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Create a draft of the side that is asked."""
        return self.write(self._create)

    def _create(self, command: Command) -> Any:
        return create_draft(command.actor, command.data, command.at, command.reading, side=Side(self.side))

    def retrieve(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Answer a version with a page of its lines; the tag holds a hash of the content, since counters move by themselves."""
        asked: dict[str, Any] = {}

        def calls(tenant_id: UUID) -> list[Call]:
            query = request.GET
            check_names(query, ("fields", "include", "revision", "page", "limit"))
            given = [str(self.kwargs["pk"]), str(tenant_id), *_revision(query.get("revision"))]
            chosen = select(_SHAPE, query.get("fields"), query.get("include"))
            found = [Call(Statement.composed(_one(chosen)), given)]
            if "page" in query or "limit" in query:
                asked.update(page=positive(query.get("page"), 1), limit=asked_limit(query, _PAGING))
                found.append(Call(_PAGE, [*given, str(asked["limit"]), str((asked["page"] - 1) * asked["limit"])]))
            return found

        actor, (header, *page) = self.read(calls)
        if not len(header):
            raise NotFound(f"No such {AGREEMENTS.name}.")
        content, version, side = header.row()
        self.check_place(actor, (side or b"").decode())
        content = content or b"{}"
        if page:
            content = _with_page(content, *page[0].row(), **asked)
        tag = preconditions.tag_of(_SHAPE, Selection(None, ("lines",)), content, version)
        return self.answer(content, tag=tag)

    @action(detail=True, methods=["post"])
    def propose(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Send the own draft to the other party."""
        return self.write()

    @action(detail=True, methods=["post"])
    def terminate(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Give notice of an accepted agreement."""
        return self.write()

    @action(detail=True, methods=["post"])
    def accept(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Accept what the other party has proposed."""
        return self.write()

    @action(detail=True, methods=["post"])
    def decline(self, request: HttpRequest, pk: UUID) -> HttpResponse:
        """Decline what the other party has proposed."""
        return self.write()


def _revision(asked: str | None) -> list[str | None]:
    """Return the number of a version or None, and whether the draft is asked for.

    :raises InvalidFields: it is neither.
    """
    if asked is None or asked == DRAFT:
        return [None, "true" if asked else "false"]
    if not (asked.isascii() and asked.isdigit() and 0 < len(asked) < 10 and asked[0] != "0"):
        raise InvalidFields(errors=[FieldError("revision", "invalid", "Give the number of a version, or draft.")])
    return [asked, "false"]


def _with_page(content: bytes, lines: bytes | None, total: bytes | None, *, page: int, limit: int) -> bytes:
    """Put a page of lines in the place of the first one."""
    found = orjson.loads(content)
    if "lines" in found:
        found["lines"] = orjson.loads(lines or b"[]")
    if "lines_next" in found:
        more = page * limit < int(total or 0)
        version = f"revision={found['revision']}&" if "revision" in found else ""
        address = f"/v1/price-agreements/{found['id']}?{version}page={page + 1}&limit={limit}"
        found["lines_next"] = address if more else None
    return orjson.dumps(found)
