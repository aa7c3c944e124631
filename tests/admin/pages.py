"""Which pages of the admin a test of all of them opens."""

from collections.abc import Iterator

from django.contrib import admin
from django.urls import reverse

from tests.admin.people import World
from tests.admin.seats import Seat


def addresses(seat: Seat, mine: World) -> Iterator[str]:
    """Every list with one page of it, the forms that add, and the pages beside."""
    yield from ("/admin/", "/admin/acting-tenant/", "/admin/password_change/", reverse("admin:second_factor"))
    for page in admin.site._registry.values():
        kind = f"admin:{page.opts.app_label}_{page.opts.model_name}"
        seat.open(reverse(f"{kind}_changelist"))
        links = seat.page.locator("#result_list a[href*='/change/']")
        adds = seat.page.locator("a.addlink, a[href$='/add/']")
        found = [links.first.get_attribute("href")] if links.count() else []
        found += [adds.first.get_attribute("href")] if adds.count() else []
        yield from (reverse(f"{kind}_changelist"), *(str(one) for one in found))
        yield from (reverse(f"{kind}_addition", args=[one.name]) for one in getattr(page, "additions", ()))
    for name in ("suspend", "change-plan", "offboard"):
        yield reverse("admin:organizations_tenant_button", args=[mine.tenant.pk, name])
    yield reverse("admin:suppliers_platformcategory_duplicates")
    for view in ("stuck", "figures"):
        yield reverse(f"admin:prescriptions_prescription_{view}")
    yield reverse("admin:suppliers_supplierprofile_desk")
    yield reverse("admin:suppliers_price_why")
    yield reverse("admin:suppliers_notification_queue")
    yield reverse("admin:suppliers_exceptions")
    yield reverse("admin:suppliers_figures")
