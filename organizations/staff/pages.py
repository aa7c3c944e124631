"""Pages that belong to no table: what is asked of several at once, of the acting tenant or of all tenants."""

from collections.abc import Callable
from typing import Any, ClassVar, Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path

from .roles import Area, sees
from .tenant_admin import bound_to_tenant


class StaffPage:
    """Base of such a page; `name` is that of its address in the namespace `admin`, `address` what follows behind `/admin/`."""

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
        raise NotImplementedError


class TenantPage(StaffPage):
    """A page of the acting tenant; it is opened as those of `TenantAdmin` are, in one transaction bound to that tenant."""

    def url(self) -> URLPattern:
        """Return the address; without an acting tenant it leads to the choice of one."""
        view = bound_to_tenant(self, self.admin_site.admin_view(self.view))
        return path(self.address, view, name=self.name)


class SharedPage(StaffPage):
    """A page of what is of all tenants; no tenant is bound."""

    def url(self) -> URLPattern:
        """Return the address."""
        view: Callable[..., HttpResponse] = self.admin_site.admin_view(self._opened)
        return path(self.address, view, name=self.name)

    def is_open_to(self, user: Any) -> bool:
        """Tell whether a member of staff may open the page."""
        return sees(user, self.area)

    def _opened(self, request: HttpRequest) -> HttpResponse:
        if not self.is_open_to(request.user):
            raise PermissionDenied
        return self.view(request)


PAGES: Final[list[type[StaffPage]]] = []


def register_page(page: type[StaffPage]) -> type[StaffPage]:
    """Add a page to the admin, as a decorator."""
    PAGES.append(page)
    return page
