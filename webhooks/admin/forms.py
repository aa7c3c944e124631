"""Forms of the webhooks' buttons."""

from datetime import timedelta
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from core.clock import now
from ledger import public as ledger
from organizations.staff.buttons import ReasonForm
from webhooks import states

_WORDS = {
    states.FAILED: "failed: what was given up",
    "missing": "missing: what was never sent there, e.g. while it was disabled",
    "all": "all: also what the receiver has already",
}


def _moment(**more: Any) -> forms.DateTimeField:
    widget = UnfoldAdminTextInputWidget(attrs={"type": "datetime-local", "step": 1})
    return forms.DateTimeField(widget=widget, help_text="UTC.", **more)


def _yesterday() -> str:
    return f"{now() - timedelta(days=1):%Y-%m-%dT%H:%M:%S}"


class SampleForm(ReasonForm):
    """Which kind of event the sample is of."""

    type = forms.ChoiceField(
        choices=lambda: [(name, name) for name in sorted(ledger.catalogue())], widget=UnfoldAdminSelectWidget()
    )


class RotationForm(ReasonForm):
    """How long the older keys sign beside the new one."""

    overlap_hours = forms.IntegerField(
        min_value=0,
        max_value=7 * 24,
        initial=24,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "number"}),
        help_text="0 to 168 hours for which the older keys sign too.",
    )


class ReplayForm(ReasonForm):
    """Which stretch of the past, and what of it."""

    since = _moment(initial=_yesterday)
    until = _moment(required=False, label="Until (empty: now)")
    only = forms.ChoiceField(
        choices=[(name, _WORDS[name]) for name in states.REPLAY_ONLY], widget=UnfoldAdminSelectWidget()
    )
    types = forms.CharField(
        required=False,
        max_length=400,
        widget=UnfoldAdminTextInputWidget(),
        help_text="Kinds of events or patterns, with commas between; empty: all.",
    )

    def clean_types(self) -> list[str]:
        """Split the line."""
        return [word.strip() for word in self.cleaned_data["types"].split(",") if word.strip()]
