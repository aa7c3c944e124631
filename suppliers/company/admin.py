"""Admin pages of suppliers as companies: the qualification desk, the acting tenant's profile, and its licences."""

from collections.abc import Callable
from datetime import date
from typing import Any, Final

from django.contrib import admin
from django.core.exceptions import BadRequest, PermissionDenied
from django.db.models import DateField, QuerySet, Value
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from core.clock import now
from core.pipeline import run
from organizations.staff import acting_tenant, columns
from organizations.staff.buttons import Button, ButtonClick
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission, sees
from organizations.staff.tenant_admin import TenantAdmin, link_action

from . import qualification
from .checklist import checklist
from .desk import EXPIRING_DAYS, PAGE, STATUSES, suppliers
from .models import SupplierLicense, SupplierProfile
from .states import Qualification
from .today import today_call, today_of

QUALIFICATION_COLOURS: Final = {
    "registered": "info", "under_review": "info", "qualified": "success", "suspended": "warning", "disqualified": "danger",
}  # fmt: skip
EXPIRY_COLOURS: Final = {"valid": "success", "expiring": "warning", "expired": "danger", "not yet valid": "info"}
_MOST_PAGES: Final = 10_000
_WORDS: Final = (
    "Suspended and disqualified suppliers take no new orders, and their offers are hidden; what is under way goes on."
)


def expiry_of(row: SupplierLicense, today: date) -> str:
    """Say in a word how a licence stands on a day."""
    if row.valid_from and row.valid_from > today:
        return "not yet valid"
    if row.valid_to is None:
        return "valid"
    left = (row.valid_to - today).days
    return "expired" if left <= 0 else "expiring" if left <= EXPIRING_DAYS else "valid"


def _today(row: Any) -> date:
    (found,) = run([today_call(row.tenant_id, now())])
    return today_of(found)


def _click(action: Callable[..., Any]) -> Callable[[ButtonClick], None]:
    def run_action(click: ButtonClick) -> None:
        action(click.actor, click.row, click.at)

    return run_action


def _button(name: str, label: str, action: Callable[..., Any], explains: str, **more: Any) -> Button:
    return Button(
        name=name, label=label, permission=Permission.QUALIFY_SUPPLIERS, run=_click(action), explains=explains, **more
    )


def _is(*states: Qualification) -> Callable[[Any], bool]:
    return lambda row: row.qualification_status in states


@admin.register(SupplierProfile)
class SupplierProfileAdmin(TenantAdmin):
    """The acting tenant's profile with its checklist, and the desk with the suppliers of all tenants."""

    area = Area.CATALOG
    list_display = ("legal_name", "qualification", "country", "updated_at")
    ordering = ("-updated_at", "-id")
    fieldsets = (
        ("Qualification", {"fields": ("qualification", "all_checks", "all_licenses")}),
        ("Company", {"fields": ("legal_name", "trade_name", "country", "all_registrations", "all_addresses", "all_contacts")}),
        ("Trade", {"fields": ("bank_account_last4", "all_tax_rates", "all_settings")}),
        ("History", {"fields": ("id", "tenant", "identity_reviewed_at", "bank_reviewed_at", "created_at", "updated_at", "version")}),
    )  # fmt: skip
    readonly_fields = (
        "qualification", "all_checks", "all_licenses", "all_registrations", "all_addresses", "all_contacts", "all_tax_rates",
        "all_settings",
    )  # fmt: skip
    buttons = (
        _button(
            "review-identity", "Review identity", qualification.review_identity,
            "Notes that legal name, country and registrations were checked. A change by the supplier takes the note away.",
            shown=lambda row: row.identity_reviewed_at is None, icon="badge",
        ),
        _button(
            "review-bank-account", "Review bank account", qualification.review_bank_account,
            "Notes that the bank account was checked. Another account has to be reviewed again.",
            shown=lambda row: bool(row.bank_account_last4) and row.bank_reviewed_at is None, icon="account_balance",
        ),
        _button(
            "start-review", "Start review", qualification.start_review, "The supplier sees that it is under review.",
            shown=_is(Qualification.REGISTERED, Qualification.DISQUALIFIED), icon="search",
        ),
        _button(
            "qualify", "Qualify", qualification.qualify, "The supplier may publish offers and take orders.",
            shown=_is(Qualification.UNDER_REVIEW), icon="verified",
        ),
        _button(
            "re-qualify", "Re-qualify", qualification.qualify, "The supplier's offers are seen again, and it takes orders.",
            shown=_is(Qualification.SUSPENDED), icon="verified",
        ),
        _button(
            "suspend", "Suspend", qualification.suspend, _WORDS, shown=_is(Qualification.QUALIFIED), icon="pause_circle",
            danger=True,
        ),
        _button(
            "disqualify", "Disqualify", qualification.disqualify, _WORDS,
            shown=lambda row: row.qualification_status != Qualification.DISQUALIFIED, icon="block", danger=True,
        ),
    )  # fmt: skip

    def get_urls(self) -> list[URLPattern]:
        """Add the desk, which needs no acting tenant."""
        desk = path("desk/", self.admin_site.admin_view(self.desk_view), name="suppliers_supplierprofile_desk")
        return [desk, *super().get_urls()]

    def links(self, request: HttpRequest, row: SupplierProfile) -> list[dict[str, Any]]:
        """Lead to the licences, which are verified one by one."""
        return [link_action("Licences", reverse("admin:suppliers_supplierlicense_changelist"), icon="license")]

    @column(description="Qualification", ordering="qualification_status", label=QUALIFICATION_COLOURS)
    def qualification(self, row: SupplierProfile) -> str:
        """How the supplier stands, as a coloured label."""
        return str(row.qualification_status)

    @column(description="Checklist")
    def all_checks(self, row: SupplierProfile) -> SafeString:
        """What staff look at before they qualify the supplier."""
        return render_to_string("suppliers/checklist.html", {"checks": checklist(row, _today(row))})

    @column(description="Licences")
    def all_licenses(self, row: SupplierProfile) -> SafeString:
        """The licences by how they stand today."""
        today = _today(row)
        held = SupplierLicense.objects.filter(tenant_id=row.tenant_id).order_by("position", "id")
        rows = [{"row": one, "expiry": (word := expiry_of(one, today)), "colour": EXPIRY_COLOURS[word]} for one in held]
        return render_to_string("suppliers/licenses.html", {"licenses": rows})

    @column(description="Registrations")
    def all_registrations(self, row: SupplierProfile) -> str:
        """Scheme and number of each registration."""
        return columns.words(f"{one['scheme']} {one['value']}" for one in row.registrations)

    @column(description="Addresses")
    def all_addresses(self, row: SupplierProfile) -> SafeString:
        """The addresses."""
        return columns.json_lines(row.addresses)

    @column(description="Contacts")
    def all_contacts(self, row: SupplierProfile) -> SafeString:
        """The contacts."""
        return columns.json_lines(row.contacts)

    @column(description="Tax rates")
    def all_tax_rates(self, row: SupplierProfile) -> SafeString:
        """The tax rates."""
        return columns.json_lines(row.tax_rates)

    @column(description="Settings that differ from the defaults")
    def all_settings(self, row: SupplierProfile) -> SafeString:
        """The order settings."""
        return columns.json_lines(row.order_settings)

    def desk_view(self, request: HttpRequest) -> HttpResponse:
        """Show the suppliers of all tenants.

        :raises PermissionDenied: the role does not see the area.
        :raises BadRequest: a filter is not valid; the whole list must not be taken for a filtered one.
        """
        if not sees(request.user, self.area):
            raise PermissionDenied
        status, search, number = (request.GET.get(name, "") for name in ("status", "q", "page"))
        is_page = number == "" or (number.isascii() and number.isdigit() and 0 < int(number[:9]) <= _MOST_PAGES)
        if status not in ("", *STATUSES) or len(search) > 200 or "\0" in search or not is_page:
            raise BadRequest
        page = int(number or 1)
        found = suppliers(status, search, (page - 1) * PAGE)
        rows = [
            {"of": one, "colour": QUALIFICATION_COLOURS[one.status], "link": _acting(one.id)} for one in found[:PAGE]
        ]
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Qualification desk",
            "rows": rows,
            "statuses": STATUSES,
            "status": status,
            "search": search,
            "next": urlencode({"status": status, "q": search, "page": str(page + 1)}) if len(found) > PAGE else "",
            "expiring_days": EXPIRING_DAYS,
        }
        return TemplateResponse(request, "suppliers/desk.html", context)


def _acting(tenant_id: Any) -> str:
    """Return the address that makes a supplier the acting tenant and then shows its profile."""
    then = reverse("admin:suppliers_supplierprofile_changelist")
    return f"{reverse('admin:acting_tenant')}?{urlencode({'tenant': tenant_id, 'next': then})}"


def _verify(click: ButtonClick) -> None:
    profile = SupplierProfile.objects.get(tenant_id=click.row.tenant_id)  # locked before the licence
    qualification.verify_license(click.actor, profile, click.row, click.at)


@admin.register(SupplierLicense)
class SupplierLicenseAdmin(TenantAdmin):
    """Licences of the acting tenant."""

    area = Area.CATALOG
    list_display = ("type", "number", "authority", "valid_from", "valid_to", "expiry", "verified")
    list_filter = ("type",)
    ordering = ("position", "id")
    fields = (
        "id", "tenant", "type", "number", "authority", "valid_from", "valid_to", "expiry", "verified", "verified_at",
        "file_id", "told_days", "created_at", "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("expiry", "verified")
    buttons = (
        Button(
            name="verify",
            label="Verify",
            permission=Permission.QUALIFY_SUPPLIERS,
            run=_verify,
            explains="Notes that the licence was checked with its authority. A change by the supplier takes the note away.",
            shown=lambda row: row.verified_at is None,
            icon="verified",
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[SupplierLicense]:
        """Add the date at the supplier, by which licences hold."""
        rows: QuerySet[SupplierLicense] = super().get_queryset(request)
        chosen = acting_tenant.current(request)
        if chosen is None:
            return rows
        (found,) = run([today_call(chosen.tenant_id, now())])
        return rows.annotate(today=Value(today_of(found), output_field=DateField()))

    def locked(self, key: Any) -> SupplierLicense:
        """Lock the profile before the licence, as the supplier's own changes do."""
        row = SupplierLicense.objects.get(pk=key)
        SupplierProfile.objects.select_for_update(no_key=True).filter(tenant_id=row.tenant_id).get()
        found: SupplierLicense = super().locked(key)
        return found

    @column(description="Today", label=EXPIRY_COLOURS)
    def expiry(self, row: Any) -> str:
        """How the licence stands today, in words and colour."""
        return expiry_of(row, row.today)

    @column(description="Review", label={"verified": "success", "to be verified": "warning"})
    def verified(self, row: SupplierLicense) -> str:
        """Whether staff have seen the licence as it stands now."""
        return "verified" if row.verified_at else "to be verified"
