"""Forms of the admin pages of tenants."""

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from core.money import is_currency
from organizations.actions.provisioning import FirstMember, TenantSpec
from organizations.models import Tenant
from organizations.plans import DEFAULT_PLAN, PLANS
from organizations.staff.buttons import ReasonForm

_PLANS = [(name, name) for name in PLANS]


def _text_field(**more: Any) -> forms.CharField:
    return forms.CharField(widget=UnfoldAdminTextInputWidget(), **more)


class PlanForm(ReasonForm):
    """The new plan, with the reason."""

    plan = forms.ChoiceField(choices=_PLANS, widget=UnfoldAdminSelectWidget())


class HoldForm(ReasonForm):
    """Legal hold on or off, with the reason."""

    hold = forms.BooleanField(label="Under a legal hold", required=False, widget=UnfoldBooleanSwitchWidget())


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
    currency = forms.RegexField(r"^[A-Z]{3}$", initial="EUR", widget=UnfoldAdminTextInputWidget())
    first_administrator = forms.EmailField(
        required=False, widget=UnfoldAdminTextInputWidget(), help_text="This person is invited as tenant administrator."
    )

    def clean_slug(self) -> str:
        """Return the slug in lower case."""
        slug: str = self.cleaned_data["slug"]
        return slug.lower()

    def clean_time_zone(self) -> str:
        """Require a known IANA time zone."""
        import zoneinfo

        name: str = self.cleaned_data["time_zone"]
        if name not in zoneinfo.available_timezones():
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
