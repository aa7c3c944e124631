"""The staff's page "Why this price": a line priced for a buyer of the acting supplier, with the whole trace."""

from collections.abc import Iterator
from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import urlencode
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextInputWidget

from core.clock import now
from core.countries import COUNTRIES
from core.identifiers import gtin14
from core.money import is_currency
from organizations.staff import acting_tenant, audit
from organizations.staff.pages import TenantPage, register_page
from organizations.staff.roles import Area
from suppliers.catalog.fields import QUANTITY_MAX
from suppliers.pricing.amounts import shown

from .explaining import Explanation, Question, buyers_named, explain, packaging_named

SOURCES: Final = {
    "contract": "price agreement",
    "offer": "offer",
    "price_list": "price list",
    "list_price": "list price of the product",
    "rule": "pricing rule",
    "promotion": "promotion",
}
REASONS: Final = {
    "below_min_quantity": "The quantity is below its least quantity.",
    "below_min_amount": "The line's net is below its least amount.",
    "cap_exceeded": "Too little of its cap, budget or redemptions is left.",
    "not_yet_valid": "It does not hold yet.",
    "expired": "It does not hold any more.",
    "other_currency": "It is in another currency.",
    "not_visible": "The buyer does not see it.",
    "not_assigned": "It is not for this buyer.",
    "no_list_price": "It takes a percentage off the product's list price, and there is none.",
    "not_applicable": "It does not adjust prices of this source.",
    "no_advantage": "It would make nothing cheaper.",
    "lower_precedence": "Another one goes before it.",
}
_PAGES: Final = {
    "offer": "suppliers_offer", "price_list": "suppliers_pricelist", "rule": "suppliers_pricingrule",
    "promotion": "suppliers_promotion",
}  # fmt: skip


def _text(label: str, length: int, help_text: str, *, required: bool = True) -> forms.CharField:
    return forms.CharField(
        label=label, max_length=length, required=required, help_text=help_text, widget=UnfoldAdminTextInputWidget()
    )


class WhyForm(forms.Form):
    """A line of the acting supplier, and the buyer that it is priced for; `supplier_id` is set by the page."""

    supplier_id: UUID

    buyer = _text("Buyer", 200, "Id, slug or the whole name of a tenant that buys.")
    product = _text("Product", 64, "SKU or id.")
    packaging = _text(
        "Packaging", 36, "GTIN or id. Left out: that of the buyer's offer, else the first.", required=False
    )
    quantity = forms.IntegerField(
        min_value=1,
        max_value=QUANTITY_MAX,
        initial=1,
        help_text="Packs.",
        widget=UnfoldAdminIntegerFieldWidget(attrs={"min": 1}),
    )
    currency = _text("Currency", 3, "Code of ISO 4217, as EUR.")
    day = forms.DateField(
        label="Day",
        required=False,
        input_formats=["%Y-%m-%d"],
        help_text="YYYY-MM-DD. Left out: today at the supplier.",
        widget=UnfoldAdminTextInputWidget(attrs={"placeholder": "YYYY-MM-DD"}),
    )
    country = _text(
        "Country of delivery", 2, "Code of ISO 3166-1. Left out: that of the buyer's organization.", required=False
    )

    def clean_buyer(self) -> UUID:
        """Find the buyer."""
        found = buyers_named(self.supplier_id, self.cleaned_data["buyer"])
        if len(found) != 1:
            raise forms.ValidationError(
                "Several have this name; give the slug." if found else "There is no such buyer."
            )
        return found[0].id

    def clean_packaging(self) -> UUID | None:
        """Find the packaging."""
        name: str = self.cleaned_data["packaging"]
        if not name:
            return None
        found = packaging_named(self.supplier_id, gtin14(name) or name)
        if found is None:
            raise forms.ValidationError("The supplier has no such packaging.")
        return found

    def clean_currency(self) -> str:
        """Require an active currency."""
        code: str = self.cleaned_data["currency"].upper()
        if not is_currency(code):
            raise forms.ValidationError("This is no active currency of ISO 4217.")
        return code

    def clean_country(self) -> str | None:
        """Require a country."""
        code: str = self.cleaned_data["country"].upper()
        if code and code not in COUNTRIES:
            raise forms.ValidationError("This is no country code of ISO 3166-1.")
        return code or None

    def question(self) -> Question:
        """Return what the checked form asks."""
        data = self.cleaned_data
        return Question(
            data["buyer"], data["product"], data["packaging"], data["quantity"], data["currency"], data["day"], data["country"]
        )  # fmt: skip


@register_page
class WhyPage(TenantPage):
    """The price of one line for a buyer, by the statement and the function of the supplier's own quotes."""

    area = Area.CATALOG
    name = "suppliers_price_why"
    address = "suppliers/why-this-price/"
    title = "Why this price"

    def view(self, request: HttpRequest) -> HttpResponse:
        """Show the form and, where it was sent, the price with its trace; each answer is an entry of the security log."""
        acting = acting_tenant.current(request)
        assert acting is not None  # `bound_to_tenant` redirects without one
        is_sent = "quantity" in request.GET  # links to the page begin with other members
        form = WhyForm(request.GET) if is_sent else WhyForm(initial={"quantity": 1} | request.GET.dict())
        form.supplier_id = acting.tenant_id
        found = self._explained(form) if is_sent and form.is_valid() else None
        if found is not None:
            audit.log_security(
                request, "staff_explained_price", subject=str(request.user.pk), tenant_id=acting.tenant_id
            )
        context = {
            **self.admin_site.each_context(request),
            "title": self.title,
            "form": form,
            "supplier": acting.name,
            "found": found and _context(found, form),
        }
        return TemplateResponse(request, "suppliers/why.html", context)

    def _explained(self, form: WhyForm) -> Explanation | None:
        found = explain(form.supplier_id, form.question(), now())
        if found is None:
            form.add_error("product", "The supplier has no such product.")
        elif found.good.row.packaging_id is None:
            form.add_error("packaging", "The product has no such packaging.")
        return found if form.is_valid() else None


def _context(found: Explanation, form: WhyForm) -> dict[str, Any]:
    row, line = found.good.row, found.line
    context = {"row": row, "currency": form.cleaned_data["currency"], "steps": [*_steps(found)]}
    if line is None:
        return context
    return context | {
        "price": shown(line.price.unit_price),
        "per": line.price.price_base_quantity,
        "source": SOURCES[line.price.source.text],
        "total": f"{line.total:f}",
        "list_price": None if line.list_price is None else shown(line.list_price),
        "discount": None if line.discount is None else f"{line.discount:f}",
        "correction": line.measured.correction,
        "refusal": line.refusal,
        "valid_until": line.valid_until,
    }


def _steps(found: Explanation) -> Iterator[dict[str, Any]]:
    """Yield the entries of the trace as the page shows them."""
    for one in found.trace:
        yield {
            **one,
            "source": SOURCES[one["source_type"]],
            "link": _link(one["source_type"], one["source_id"], found.good.row.product_id),
            "words": REASONS.get(one["reason"] or "", ""),
        }


def _link(source_type: str, key: str, product_id: UUID) -> str:
    """Return the address of a source's page; of an agreement that of its versions."""
    if source_type == "list_price":
        return reverse("admin:suppliers_product_change", args=[product_id])
    if source_type == "contract":
        return f"{reverse('admin:suppliers_receivedagreement_changelist')}?{urlencode({'q': key})}"
    return reverse(f"admin:{_PAGES[source_type]}_change", args=[key])
