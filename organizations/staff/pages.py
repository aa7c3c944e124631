"""Pages of the acting tenant that belong to no table: what is asked of several at once."""

from typing import Any, ClassVar, Final

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from .roles import Area
from .tenant_admin import bound_to_tenant


class TenantPage:
    """A page of the acting tenant; it is opened as those of `TenantAdmin` are, in one transaction bound to that tenant.

    `name` is that of its address in the namespace `admin`, `address` what follows behind `/admin/`.
    """

    area: ClassVar[Area]
    name: ClassVar[str]
    address: ClassVar[str]
    title: ClassVar[str]

    def __init__(self, admin_site: Any) -> None:
        self.admin_site = admin_site

    def view(self, request: HttpRequest) -> HttpResponse:
        """Answer a request."""
        raise NotImplementedError

    def url(self) -> URLPattern:
        """Return the address, open to staff who see the area."""
        return path(self.address, bound_to_tenant(self, self.admin_site.admin_view(self.view)), name=self.name)


PAGES: Final[list[type[TenantPage]]] = []


def register_page(page: type[TenantPage]) -> type[TenantPage]:
    """Add a page to the admin, as a decorator."""
    PAGES.append(page)
    return page
