"""The command palette (Ctrl-K): finds pages of the menu, and rows by what their own lists search.

Rows of tenants are found in the acting tenant alone, and nothing is found that the role of the member of staff may not see.
"""

from collections.abc import Iterator
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.dataclasses import SearchResult

from core.db import tenant_context
from core.ids import parse_uuid

from . import acting_tenant
from .roles import sees
from .tenant_admin import StaffAdmin, TenantAdmin

SHORTEST = 2
LONGEST = 100
OF_A_KIND = 5


def answer(site: Any, request: HttpRequest) -> TemplateResponse:
    """Answer what is found, in one page."""
    term = request.GET.get("s", "").replace("\x00", "").strip()[:LONGEST]
    found = list(find(site, request, term)) if len(term) >= SHORTEST else []
    pages = Paginator(found, max(len(found), 1))
    acting = acting_tenant.current(request)
    context = {"acting": acting, "page_obj": pages, "results": pages.page(1), "page_counter": 0, "execution_time": 0}
    return TemplateResponse(request, "staff/found.html", context, headers={"HX-Trigger": "search"})


def find(site: Any, request: HttpRequest, term: str) -> Iterator[SearchResult]:
    """Yield pages of the menu whose title holds the words, then rows, five of a kind at most."""
    titles = {}
    for group in site.get_sidebar_list(request):
        for item in group["items"]:
            titles[str(item["link"])] = item["title"]
            if term.lower() in item["title"].lower():
                yield SearchResult(item["title"], "Page", str(item["link"]), item["icon"])
    for page in sorted(site._registry.values(), key=lambda one: isinstance(one, TenantAdmin)):
        if page.in_palette and sees(request.user, page.area):
            kind = titles.get(reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_changelist"), "")
            yield from _rows(page, request, term, kind)


def _rows(page: StaffAdmin, request: HttpRequest, term: str, kind: str) -> Iterator[SearchResult]:
    if not isinstance(page, TenantAdmin):
        yield from _searched(page, request, term, kind)
    elif chosen := acting_tenant.current(request):
        with tenant_context(chosen.tenant_id):
            yield from list(_searched(page, request, term, f"{kind} of {chosen.name}"))


def _searched(page: StaffAdmin, request: HttpRequest, term: str, kind: str) -> Iterator[SearchResult]:
    rows = page.get_queryset(request)
    key = parse_uuid(term)
    found = rows.filter(pk=key) if key else page.get_search_results(request, rows, term)[0]
    for row in found[:OF_A_KIND]:
        address = reverse(f"admin:{page.opts.app_label}_{page.opts.model_name}_change", args=[row.pk])
        yield SearchResult(page.named(row), kind, address, "arrow_forward")
