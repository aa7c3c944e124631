"""The admin site of the platform's staff: its sign-in, its idle limit, and the page that chooses the acting tenant."""

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth.views import PasswordChangeView
from django.db.models import Model, Q
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST
from unfold.sites import UnfoldAdminSite
from unfold.widgets import UnfoldAdminTextareaWidget

from core.clock import now
from organizations.models import Tenant

from . import acting_tenant, pages, palette, sign_in
from .audit import REASON_LENGTH
from .autocomplete import StaffAutocomplete
from .roles import role_of
from .second_factor import second_factor_view
from .tenant_admin import StaffAdmin

MOST_TENANTS = 20


class ActingForm(forms.Form):
    """The acting tenant and the reason of the access."""

    tenant = forms.UUIDField(error_messages={"required": "Choose a tenant.", "invalid": "Choose a tenant."})
    reason = forms.CharField(
        min_length=5, max_length=REASON_LENGTH, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3})
    )


class StaffSite(UnfoldAdminSite):  # type: ignore[misc]  # the theme has no types
    """The staff's admin site; `StaffAdminConfig` installs it."""

    login_template = "staff/sign_in.html"
    index_title = "Overview"

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.login_form = sign_in.StaffSignInForm

    def register(self, model_or_iterable: Any, admin_class: Any = None, **options: Any) -> None:
        """Register only pages that name an area; pages of libraries name none and are left out."""
        if admin_class is not None and issubclass(admin_class, StaffAdmin):
            super().register(model_or_iterable, admin_class, **options)

    def has_permission(self, request: HttpRequest) -> bool:
        """Admit staff whose session was opened in the admin and is not idle."""
        return bool(role_of(request.user)) and sign_in.is_present(request)

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        """Wrap a view so that each request records the session's use."""
        guarded = super().admin_view(view, cacheable)

        def inner(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if self.has_permission(request):
                sign_in.touch(request)
            response: HttpResponse = guarded(request, *args, **kwargs)
            return response

        return inner

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sign in, and mark the session as opened in the admin."""
        response: HttpResponse = super().login(request, extra_context)
        if request.method == "POST" and response.status_code == 302 and role_of(request.user):
            sign_in.mark_signed_in(request)
        return response

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """End the access to the acting tenant, and sign out."""
        if request.method == "POST" and role_of(request.user):
            acting_tenant.end(request, at=now())
        response: HttpResponse = super().logout(request, extra_context)
        return response

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Change the user's own password by the platform's action, which also ends all tokens of the user."""
        view = PasswordChangeView.as_view(
            form_class=sign_in.OwnPasswordForm,
            success_url=reverse("admin:password_change_done"),
            extra_context={**self.each_context(request), **(extra_context or {})},
            template_name="registration/password_change_form.html",
        )
        return cast("HttpResponse", view(request))

    def extra_urls(self) -> list[URLPattern]:
        """Return the addresses of the pages that belong to no table."""
        return [
            path("second-factor/", self.admin_view(self.second_factor_view), name="second_factor"),
            path("acting-tenant/", self.admin_view(self.acting_view), name="acting_tenant"),
            path("acting-tenant/end/", self.admin_view(require_POST(self.acting_end_view)), name="acting_tenant_end"),
            *(page(self).url() for page in pages.PAGES),
        ]

    def search(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        """Answer what the command palette finds."""
        return palette.answer(self, request)

    def autocomplete_view(self, request: HttpRequest) -> HttpResponse:
        """Answer the choices of a filter that fit what is typed."""
        return cast("HttpResponse", StaffAutocomplete.as_view(admin_site=self)(request))

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Give every page the acting tenant, for the banner, and the user's staff role."""
        context: dict[str, Any] = super().each_context(request)
        if self.has_permission(request):
            context |= {"acting": acting_tenant.current(request), "staff_role": role_of(request.user)}
        return context

    def second_factor_view(self, request: HttpRequest) -> HttpResponse:
        """Let members of staff set up their own second factor."""
        return second_factor_view(request, self.each_context(request))

    def acting_view(self, request: HttpRequest) -> HttpResponse:
        """Search for a tenant and open it for 30 minutes, with a reason."""
        form = ActingForm(request.POST if request.method == "POST" else None)
        if request.method == "POST" and form.is_valid():
            tenant = Tenant.objects.filter(pk=form.cleaned_data["tenant"]).first()
            if tenant is not None:
                acting_tenant.begin(request, tenant, reason=form.cleaned_data["reason"], at=now())
                messages.success(request, f"You now see the data of {tenant.name}.")
                return HttpResponseRedirect(_next_address(request))
            form.add_error("tenant", "There is no such tenant.")
        wanted = request.GET.get("tenant", "") or str(form.data.get("tenant", ""))
        search = request.GET.get("q", "").strip()
        context = {
            **self.each_context(request),
            "title": "Choose the acting tenant",
            "form": form,
            "search": search,
            "wanted": wanted,
            "tenants": _tenants(search, wanted),
            "next": request.GET.get("next", ""),
            "minutes": int(acting_tenant.LASTS.total_seconds() // 60),
        }
        return TemplateResponse(request, "staff/acting_tenant.html", context)

    def acting_end_view(self, request: HttpRequest) -> HttpResponse:
        """End the access to the acting tenant."""
        acting_tenant.end(request, at=now())
        messages.success(request, "The access to the tenant has ended.")
        return HttpResponseRedirect(reverse("admin:index"))


def _tenants(search: str, wanted: str) -> list[Model]:
    rows = Tenant.objects.select_related("organization")
    if search:
        rows = rows.filter(
            Q(name__icontains=search) | Q(slug__icontains=search) | Q(organization__name__icontains=search)
        )
    elif len(wanted) == 36:
        try:
            return list(rows.filter(pk=wanted))
        except forms.ValidationError:
            return []
    return list(rows.order_by("-created_at", "-id")[:MOST_TENANTS])


def _next_address(request: HttpRequest) -> str:
    address = request.GET.get("next", "")
    allowed = url_has_allowed_host_and_scheme(address, allowed_hosts=None, require_https=request.is_secure())
    return address if allowed and address.startswith("/admin/") else reverse("admin:index")
