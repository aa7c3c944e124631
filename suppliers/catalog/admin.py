"""Admin pages of the catalog: products and categories of the acting tenant, the platform's categories, GTINs of several suppliers."""

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextInputWidget

from core.identifiers import gtin14
from organizations.staff import audit, columns
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin, TenantAdmin, link_action

from . import vocabularies
from .actions import discontinue_product, map_category
from .duplicates import PAGE, duplicates
from .holds import hold_product, lift_product_hold
from .models import Category, Packaging, PlatformCategory, Product
from .states import PackagingState, Status


class FoundByGtin:
    """A page of rows of products whose search also takes a GTIN, of 8, 12, 13 or 14 digits."""

    product_column: ClassVar[str] = "product_id"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find the rows of the products that have the GTIN; where none has it, search as the page does otherwise."""
        if gtin := gtin14(search_term.strip()):
            named = Packaging.objects.filter(gtin=gtin, state=PackagingState.CURRENT).values("tenant_id", "product_id")
            if found := list(named[:1]):  # a GTIN belongs to one product of the acting tenant
                return queryset.filter(**{self.product_column: found[0]["product_id"]}), False
        searched: tuple[QuerySet[Any], bool] = super().get_search_results(request, queryset, search_term)  # type: ignore[misc]
        return searched


class HeldFilter(admin.SimpleListFilter):
    """What staff hold off the market, or the rest."""

    title = "hold"
    parameter_name = "hold"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Return the choices."""
        return [("held", "Held"), ("free", "Not held")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Keep the chosen ones."""
        chosen = self.value()
        if chosen not in (None, "held", "free"):
            return queryset.none()
        return queryset if chosen is None else queryset.filter(held_at__isnull=chosen == "free")


def hold_buttons(
    hold: Callable[[ButtonClick], Any], lift: Callable[[ButtonClick], Any], *, what: str, back: str
) -> tuple[Button, Button]:
    """Return the buttons that hold a row off the market and lift the hold; `back` says what the supplier cannot do meanwhile."""
    return (
        Button(
            name="hold",
            label="Hold",
            permission=Permission.MODERATE_CATALOGS,
            run=hold,
            explains=f"No buyer sees the {what} any more. Orders and reservations go on. Until the hold is lifted the "
            f"supplier cannot {back}; it reads the reason.",
            shown=lambda row: row.held_at is None and row.status != "archived",
            icon="front_hand",
            danger=True,
        ),
        Button(
            name="lift-hold",
            label="Lift hold",
            permission=Permission.MODERATE_CATALOGS,
            run=lift,
            explains=f"The supplier can {back} again. Until it does, no buyer sees the {what}.",
            shown=lambda row: row.held_at is not None,
            icon="undo",
        ),
    )


def _hold(click: ButtonClick) -> None:
    hold_product(click.actor, click.row, click.data["reason"], click.at)


def _lift(click: ButtonClick) -> None:
    lift_product_hold(click.actor, click.row, click.at)


def _discontinue(click: ButtonClick) -> None:
    discontinue_product(click.actor, click.row, click.at)


@admin.register(Product)
class ProductAdmin(FoundByGtin, TenantAdmin):
    """Products of the acting tenant."""

    area = Area.CATALOG
    in_palette = True
    product_column = "pk"
    list_display = ("supplier_sku", "name", "category", "kind", "status_label", "availability", "updated_at")
    list_filter = ("status", HeldFilter, "kind", "availability")
    search_fields = ("=supplier_sku", "name_sort__startswith")
    search_help_text = "SKU or GTIN in full, or the beginning of the name, in lower case."
    ordering = ("-updated_at", "-id")
    date_hierarchy = "created_at"
    fieldsets = (
        (None, {"fields": ("id", "tenant", "supplier_sku", "name", "description", "status_label", "availability")}),
        ("Hold", {"fields": ("held_at", "hold_reason")}),
        ("Kind", {"fields": ("kind", "category", "brand", "manufacturer_name", "base_unit", "tracking", "packs")}),
        ("History", {"fields": ("created_at", "updated_at", "archived_at", "version")}),
    )
    readonly_fields = ("status_label", "packs")
    buttons = (
        Button(
            name="discontinue",
            label="Discontinue",
            permission=Permission.MODERATE_CATALOGS,
            run=_discontinue,
            explains="No buyer sees the product's offers any more. Orders and reservations go on; the supplier can put the "
            "product on sale again.",
            shown=lambda row: row.status == Status.ACTIVE,
            icon="block",
            danger=True,
        ),
        *hold_buttons(_hold, _lift, what="product", back="put it on sale"),
    )

    @column(description="Packagings")
    def packs(self, row: Product) -> str:
        """The product's packagings on one line."""
        rows = row.packagings.order_by("position", "id").values_list("level", "units_per_pack", "gtin")
        return "; ".join(f"{level} of {units}{f' ({gtin})' if gtin else ''}" for level, units, gtin in rows) or "–"


@admin.register(Packaging)
class PackagingAdmin(FoundByGtin, TenantAdmin):
    """Packagings of the acting tenant's products, searchable by GTIN."""

    area = Area.CATALOG
    list_display = ("gtin", "product", "level", "units_per_pack", "orderable", "state")
    list_filter = ("level", "state", "orderable")
    search_fields = ("=gtin",)
    search_help_text = "GTIN in full."
    ordering = ("-created_at", "-id")
    list_select_related = ("product",)
    fields = ("id", "tenant", "product", "position", "level", "name", "units_per_pack", "gtin", "orderable", "state")


@admin.register(Category)
class CategoryAdmin(TenantAdmin):
    """The acting tenant's own categories."""

    area = Area.CATALOG
    list_display = ("code", "name", "active", "updated_at")
    list_filter = ("active",)
    search_fields = ("code", "name")
    ordering = ("code", "id")
    fields = ("id", "tenant", "code", "name", "parent_id", "active", "all_mappings", "version")
    readonly_fields = ("all_mappings",)

    @column(description="Other taxonomies")
    def all_mappings(self, row: Any) -> SafeString:
        """Codes of UNSPSC, EMDN and ATC."""
        return columns.json_lines(row.mappings)


def _code(system: str, example: str) -> forms.RegexField:
    return forms.RegexField(
        vocabularies.CLASSIFICATIONS[system],
        required=False,
        max_length=20,
        widget=UnfoldAdminTextInputWidget(),
        help_text=f"Such as {example}; blank if there is none.",
        error_messages={"invalid": f"This is not a code of {system.upper()}, such as {example}."},
    )


class MappingForm(ReasonForm):
    """The codes of a category in other taxonomies, with the reason."""

    unspsc = _code("unspsc", "42132203")
    emdn = _code("emdn", "T0102")
    atc = _code("atc", "J01CA04")

    @classmethod
    def initial_of(cls, row: PlatformCategory) -> dict[str, Any]:
        """Show what holds now."""
        return dict(row.mappings)


def _map(click: ButtonClick) -> None:
    map_category(click.actor, click.row, {name: click.data[name] for name in ("unspsc", "emdn", "atc")}, click.at)


@admin.register(PlatformCategory)
class PlatformCategoryAdmin(StaffAdmin):
    """The platform's categories, with the codes of other taxonomies."""

    area = Area.CATALOG
    list_display = ("code", "name", "parent", "codes", "active", "updated_at")
    list_filter = ("active",)
    search_fields = ("code", "name")
    ordering = ("position", "id")
    list_select_related = ("parent",)
    fields = ("id", "code", "name", "parent", "position", "active", "all_mappings", "version")
    readonly_fields = ("all_mappings",)
    buttons = (
        Button(
            name="map",
            label="Map to taxonomies",
            permission=Permission.DEFINE_ATTRIBUTES,
            run=_map,
            explains="Every supplier and buyer reads these codes with the category.",
            form=MappingForm,
            icon="schema",
        ),
    )

    @column(description="Other taxonomies")
    def codes(self, row: Any) -> str:
        """Codes of UNSPSC, EMDN and ATC on one line."""
        return columns.words(f"{name.upper()} {code}" for name, code in sorted(row.mappings.items()))

    @column(description="Other taxonomies")
    def all_mappings(self, row: Any) -> SafeString:
        """Codes of UNSPSC, EMDN and ATC."""
        return columns.json_lines(row.mappings)

    def further_urls(self) -> list[URLPattern]:
        """The page of GTINs that several suppliers have."""
        view = self.admin_site.admin_view(self.duplicates_view)
        return [path("duplicates/", view, name="suppliers_platformcategory_duplicates")]

    def duplicates_view(self, request: HttpRequest) -> HttpResponse:
        """GTINs of several suppliers with their products side by side; who looked is an entry of the security log."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        after = request.GET.get("after", "")
        after = after if after.isdecimal() and len(after) == len("04006381333931") else ""
        found = duplicates(after)
        audit.log_security(request, "staff_compared_catalogs", subject=str(request.user.pk))
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": "Duplicate GTINs",
            "found": found,
            "following": found[-1].gtin if len(found) == PAGE else "",
            "begun": bool(after),
            "actions_list": [link_action("Platform categories", self._link("changelist"), icon="schema")],
        }
        return TemplateResponse(request, "suppliers/duplicates.html", context)
