"""The staff's page "Figures of trade": twelve months of the acting tenant as charts, each with its table."""

from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from core.clock import now
from organizations.staff import acting_tenant
from organizations.staff.pages import TenantPage, register_page
from organizations.staff.roles import Area

from .charts import context_of
from .years import read_year


@register_page
class TradeFiguresPage(TenantPage):
    """What was ordered by party and month, what came on time in full, how invoices matched, how long answers took."""

    area = Area.CATALOG
    name = "suppliers_figures"
    address = "suppliers/figures/"
    title = "Figures of trade"

    def view(self, request: HttpRequest) -> HttpResponse:
        """Show the charts; amounts are those of one currency, which can be chosen."""
        acting = acting_tenant.current(request)
        assert acting is not None  # `bound_to_tenant` redirects without one
        context = {
            **self.admin_site.each_context(request),
            "title": self.title,
            "tenant": acting.name,
            **context_of(read_year(acting.tenant_id, now()), request.GET.get("currency", "")),
        }
        return TemplateResponse(request, "suppliers/figures.html", context)
