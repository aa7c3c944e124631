"""Buttons: the only way the admin changes anything. Each asks for a reason and calls one action of the app."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from core.actor import Actor

from .audit import REASON_LENGTH
from .roles import Permission


class ReasonForm(forms.Form):
    """What every button asks for."""

    reason = forms.CharField(
        max_length=REASON_LENGTH,
        min_length=5,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="Kept for good in the audit, where the tenant can read it. No names of patients or other persons.",
    )

    field_order: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([*(name for name in self.fields if name != "reason"), "reason"])


class ConfirmedForm(ReasonForm):
    """For what cannot be undone: the name of the row has to be typed."""

    confirmation = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget())
    expected = ""

    def clean_confirmation(self) -> str:
        """Compare with the name on the page."""
        typed: str = self.cleaned_data["confirmation"]
        if typed != self.expected:
            raise forms.ValidationError("This is not the name of it.")
        return typed


@dataclass(frozen=True, slots=True)
class ButtonClick:
    """One pressed button: who, on which locked row, with what, when. `user` is the member of staff."""

    actor: Actor
    user: Any
    row: Any
    data: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Button:
    """A change a page offers. `run` calls an action inside a transaction; `shown` tells whether the row's state fits."""

    name: str
    label: str
    permission: Permission
    run: Callable[[ButtonClick], Any]
    explains: str
    shown: Callable[[Any], bool] = lambda _: True
    form: type[ReasonForm] = ReasonForm
    icon: str = "bolt"
    danger: bool = False
