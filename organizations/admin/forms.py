"""Forms of the admin pages of tenants."""

from typing import Any

from django import forms
from django.template.loader import render_to_string
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from core.db import tenant_context
from core.money import is_currency
from core.time_zones import time_zones
from organizations.actions.provisioning import FirstMember, TenantSpec
from organizations.models import Quota, Tenant
from organizations.plans import DEFAULT_PLAN, FEATURES, PLANS, QUOTA_KEYS
from organizations.staff.buttons import ReasonForm

_PLANS = [(name, name) for name in PLANS]


def _text_field(**more: Any) -> forms.CharField:
    return forms.CharField(widget=UnfoldAdminTextInputWidget(), **more)


class PlanForm(ReasonForm):
    """The new plan, with the reason, below what the tenant uses and what each plan gives."""

    plan = forms.ChoiceField(choices=_PLANS, widget=UnfoldAdminSelectWidget())

    @classmethod
    def initial_of(cls, row: Tenant) -> dict[str, Any]:
        """Choose the present plan."""
        return {"plan": row.plan}

    def beside(self, row: Tenant) -> str:
        """Show the use, the present limits and those of each plan."""
        with tenant_context(row.pk):
            quotas = {quota.key: quota for quota in Quota.objects.filter(tenant_id=row.pk)}
        lines = [
            {
                "name": key.replace("_", " "),
                "used": quotas[key].used if key in quotas else 0,
                "now": limit_text(quotas[key].limit) if key in quotas else "–",
                "plans": [limit_text(plan.quotas[key].limit) for plan in PLANS.values()],
            }
            for key in QUOTA_KEYS
        ]
        features = [
            {"name": name, "now": name in row.features, "plans": [name in plan.features for plan in PLANS.values()]}
            for name in FEATURES
        ]
        values = {"tenant": row, "plans": list(PLANS), "lines": lines, "features": features}
        return render_to_string("staff/plans.html", values)


def limit_text(limit: int | None) -> str:
    """Return a limit as it is shown."""
    return "unlimited" if limit is None else f"{limit:,}"


class HoldForm(ReasonForm):
    """Legal hold on or off, with the reason."""

    hold = forms.BooleanField(label="Under a legal hold", required=False, widget=UnfoldBooleanSwitchWidget())

    @classmethod
    def initial_of(cls, row: Tenant) -> dict[str, Any]:
        """Show whether there is one now."""
        return {"hold": row.legal_hold}


class ProvisioningForm(ReasonForm):
    """The properties of a new tenant, with the reason."""

    name = _text_field(max_length=200)
    slug = forms.SlugField(
        max_length=80,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Unique, in lower case. It cannot be changed later.",
    )
    kinds = forms.MultipleChoiceField(choices=Tenant.Kind.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget())
    organization_slug = _text_field(
        max_length=80,
        required=False,
        help_text="The organization that runs the tenant; created if there is none. Empty: the tenant's slug.",
    )
    plan = forms.ChoiceField(choices=_PLANS, initial=DEFAULT_PLAN, widget=UnfoldAdminSelectWidget())
    environment = forms.ChoiceField(choices=Tenant.Environment.choices, widget=UnfoldAdminSelectWidget())
    time_zone = _text_field(max_length=64, initial="UTC")
    currency = forms.RegexField(
        r"^[A-Z]{3}$",
        initial="EUR",
        widget=UnfoldAdminTextInputWidget(),
        help_text="Three capital letters of ISO 4217.",
        error_messages={"invalid": "Three capital letters of ISO 4217, such as EUR."},
    )
    first_administrator = forms.EmailField(
        required=False, widget=UnfoldAdminTextInputWidget(), help_text="This person is invited as tenant administrator."
    )

    def clean_slug(self) -> str:
        """Return the slug in lower case."""
        slug: str = self.cleaned_data["slug"]
        return slug.lower()

    def clean_time_zone(self) -> str:
        """Require a known IANA time zone."""
        name: str = self.cleaned_data["time_zone"]
        if name not in time_zones():
            raise forms.ValidationError("There is no such time zone.")
        return name

    def clean_currency(self) -> str:
        """Require an active ISO 4217 currency."""
        code: str = self.cleaned_data["currency"]
        if not is_currency(code):
            raise forms.ValidationError("There is no such currency.")
        return code

    def spec(self) -> TenantSpec:
        """Return the form's data as `provision_tenant` takes it."""
        data = self.cleaned_data
        email = data["first_administrator"]
        return TenantSpec(
            slug=data["slug"],
            name=data["name"],
            kinds=tuple(data["kinds"]),
            organization_slug=data["organization_slug"],
            plan=data["plan"],
            fields={name: data[name] for name in ("environment", "time_zone", "currency")},
            members=(FirstMember(email),) if email else (),
        )
