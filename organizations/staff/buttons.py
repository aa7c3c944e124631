"""Buttons, the only way the admin changes data. Each asks for a reason and calls one action of the app."""

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
    """The reason, which every button asks for."""

    reason = forms.CharField(
        max_length=REASON_LENGTH,
        min_length=5,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text=f"5 to {REASON_LENGTH} characters. Kept permanently in the audit trail, where the tenant can read it. Do not name patients or other persons.",
    )

    field_order: Any = None
    row: Any = None  # what the button changes; None where it adds one

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.order_fields([*(name for name in self.fields if name != "reason"), "reason"])
        for field in self.fields.values():
            if isinstance(field, forms.ChoiceField):
                field.error_messages["invalid_choice"] = f"Choose one of: {_words(field)}."

    @classmethod
    def initial_of(cls, row: Any) -> dict[str, Any]:
        """Return what the fields show at first: what the row holds now."""
        return {}

    def beside(self, row: Any) -> str:
        """Return what the page shows above the fields, as HTML."""
        return ""


def _words(field: forms.ChoiceField) -> str:
    choices: Any = field.choices
    return ", ".join(str(label) for value, label in choices if value != "")


class ConfirmedForm(ReasonForm):
    """Reason and typed name, for a change that cannot be undone."""

    confirmation = forms.CharField(max_length=200, widget=UnfoldAdminTextInputWidget())
    expected = ""

    def clean_confirmation(self) -> str:
        """Require the name that the page shows."""
        typed: str = self.cleaned_data["confirmation"]
        if typed != self.expected:
            raise forms.ValidationError("Type the name exactly as shown.")
        return typed


class Alarm(str):
    """The message of a button that has found something wrong; it is shown as an error, and what was done stays."""

    __slots__ = ()


class Shown(str):
    """What a button has made and nobody keeps, as a secret: it is shown once, on a page of its own."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Later:
    """What a button does once its change is committed, as asking the network; `run` returns the message."""

    run: Callable[[], str]


@dataclass(frozen=True, slots=True)
class ButtonClick:
    """One click: the actor, the member of staff (`user`), the locked row, the form's data and the time.

    `row` is None above a list, where the button adds one.
    """

    actor: Actor
    user: Any
    row: Any
    data: dict[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class Button:
    """A change that a page offers. `run` calls an action in a transaction; `shown` checks the row's state."""

    name: str
    label: str
    permission: Permission
    run: Callable[[ButtonClick], Any]
    explains: str
    shown: Callable[[Any], bool] = lambda _: True
    form: type[ReasonForm] = ReasonForm
    icon: str = "bolt"
    danger: bool = False
