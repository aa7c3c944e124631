"""HTTP of terms."""

from uuid import UUID

import orjson
from django.http import HttpRequest, HttpResponse

from api import preconditions
from api.filters import check_names
from api.list_responses import asked_page
from api.listing import one_call
from api.operations import Operation
from api.page_numbers import InvalidPage
from api.shapes import Selection, select
from api.sorts import ORDERING_FIELDS
from api.views import ApiViewSet
from core.conditions import TENANT
from core.errors import Duplicate, InvalidFields, InvalidTransition, NotFound, VersionConflict
from core.own_codes import to_put
from core.pipeline import Call, Statement
from suppliers.catalog.refusals import FieldLocked

from .actions import put_price_list
from .filters import PriceListFilters, PricingRuleFilters
from .models import PriceList, PricingRule
from .representations import FIRST_PAGE, PriceListOut, PriceListWithEntriesOut, PricingRuleOut, entries_sql
from .rules import put_pricing_rule
from .serializers import PriceListIn, PricingRuleIn

_BODY_BYTES = 5 * 1024 * 1024
_PAGE = Statement.of(
    f"SELECT ({entries_sql('$4::int', '$5::int', '$3::int')})::text FROM suppliers_pricelist t"
    " WHERE t.tenant_id = $1 AND t.code = $2".replace(TENANT, "$1")
)
_PAGING = (
    {"name": "page", "in": "query", "description": "The page of entries.", "schema": {"type": "integer", "minimum": 1}},
    {
        "name": "limit",
        "in": "query",
        "description": "Entries on a page.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": FIRST_PAGE},
    },
)


class TermViewSet(ApiViewSet):
    """Base of terms, which lie under the supplier's own codes."""

    family = "supplier"
    tag = "Prices"
    scope_prefix = "pricing:"
    tenant_kind = "supplier"
    ordering_fields = (*ORDERING_FIELDS, "code", "name", "priority")
    lookup_url_kwarg = "code"
    lookup_value_converter = "str"

    def location(self, key: object, status: int) -> str:
        """The address of what was put. Source: contract, supply-price.md 1 "PUT by code"."""
        return str(self.request.path) if status == 201 else ""


class PriceListViewSet(TermViewSet):
    """The supplier's price lists."""

    serializer_class = PriceListOut
    filterset_class = PriceListFilters
    operation_ids = {"update": "putPriceList"}
    operations = {
        "list": Operation("List price lists"),
        "retrieve": Operation(
            "Get a price list",
            "With a page of its entries, in the order of the ids of their packagings.",
            answer=PriceListWithEntriesOut,
            parameters=_PAGING,
            errors=(InvalidPage,),
        ),
        "update": Operation(
            "Put a price list",
            "Creates it under the supplier's own code (201) or replaces it (200), entries and all, in one step: one fact, "
            "one version. At most 10,000 entries in a body; a larger list is built as a draft with `entries_mode` "
            "`merge`, which changes only the entries that the body names, and switched on with `status` `active`. The "
            "currency stays while entries stay. If nothing differs, nothing is written. `archived` ends the list for good. "
            "With `If-None-Match: *` a list is only created.",
            body=PriceListIn,
            body_limit=_BODY_BYTES,
            answer=PriceListWithEntriesOut,
            find=to_put(PriceList),
            run=put_price_list,
            upsert=True,
            errors=(InvalidFields, VersionConflict, Duplicate, InvalidTransition, FieldLocked),
        ),
    }

    def retrieve(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        """Answer a list with a page of its entries; the tag holds a hash of the content, since SKUs change by themselves."""
        shape, code = PriceListWithEntriesOut.shape, str(self.kwargs["code"])
        asked: dict[str, Selection] = {}

        def calls(tenant_id: UUID) -> list[Call]:
            check_names(request.GET, ("fields", "include", "page", "limit"))
            chosen = select(shape, request.GET.get("fields"), request.GET.get("include"))
            asked["selection"] = chosen
            paging = asked_page(request.GET)
            skipped = (paging["page"] - 1) * paging["limit"]
            given = [str(tenant_id), code, str(paging["page"]), str(paging["limit"]), str(skipped)]
            return [one_call(shape, chosen, tenant_id, code), Call(_PAGE, given)]

        _, (header, entries) = self.read(calls)
        if not len(header):
            raise NotFound("No such price list.")
        content, version = header.row()
        found = orjson.loads(content or b"{}")
        if "entries" in found:
            found["entries"] = orjson.loads(entries.value() or b"{}")
        written = orjson.dumps(found)
        tag = preconditions.tag_of(shape, Selection(None, ("entries",)), written, version)
        return self.answer(written, tag=tag)


class PricingRuleViewSet(TermViewSet):
    """The supplier's pricing rules."""

    serializer_class = PricingRuleOut
    filterset_class = PricingRuleFilters
    operation_ids = {"update": "putPricingRule"}
    operations = {
        "list": Operation("List pricing rules"),
        "update": Operation(
            "Put a pricing rule",
            "Creates it under the supplier's own code (201) or replaces it (200). Rules adjust prices of lists and products, "
            "the higher priority first, then by code; prices of offers only with `applies_to_offers`, agreed prices never. "
            "If nothing differs, nothing is written. `archived` ends the rule for good.",
            body=PricingRuleIn,
            find=to_put(PricingRule),
            run=put_pricing_rule,
            upsert=True,
            errors=(InvalidFields, VersionConflict, Duplicate, InvalidTransition),
        ),
    }
