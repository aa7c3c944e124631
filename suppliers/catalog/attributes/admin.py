"""Admin page of attribute definitions: staff define attributes, and revise what may change of them."""

import re
from typing import Any

from django import forms
from django.contrib import admin
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from organizations.staff import columns
from organizations.staff.buttons import Button, ButtonClick, ReasonForm
from organizations.staff.columns import column
from organizations.staff.roles import Area, Permission
from organizations.staff.tenant_admin import StaffAdmin
from suppliers.catalog.models import AttributeDefinition
from suppliers.catalog.states import AttributeType

from .definitions import define_attribute, revise_attribute
from .serializers import ATTRIBUTE_CODE

MOST_LINES = 200


class LinesField(forms.CharField):
    """A list of texts, one on each line; empty lines and repetitions are left out."""

    def __init__(self, *, most_letters: int, **options: Any) -> None:
        widget = UnfoldAdminTextareaWidget(attrs={"rows": 4})
        super().__init__(required=False, max_length=MOST_LINES * (most_letters + 2), widget=widget, **options)
        self.most_letters = most_letters

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> Any:
        lines = [line.strip() for line in super().clean(value).splitlines()]
        found = list(dict.fromkeys(line for line in lines if line))
        if len(found) > MOST_LINES:
            raise forms.ValidationError(f"At most {MOST_LINES} lines.")
        if any(len(line) > self.most_letters for line in found):
            raise forms.ValidationError(f"A line has at most {self.most_letters} characters.")
        return found


class AttributeForm(ReasonForm):
    """A new attribute definition, with the reason."""

    code = forms.RegexField(
        re.compile(f"^{ATTRIBUTE_CODE.pattern}$"),
        max_length=64,
        widget=UnfoldAdminTextInputWidget(),
        error_messages={"invalid": "Use letters, digits, dots, underscores and hyphens."},
    )
    name = forms.CharField(max_length=120, widget=UnfoldAdminTextInputWidget())
    type = forms.ChoiceField(choices=AttributeType.choices, widget=UnfoldAdminSelectWidget())
    unit = forms.CharField(
        max_length=20,
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text="A code of UCUM, such as mm or mL. Without one, each value of a quantity names its own.",
    )
    allowed_values = LinesField(most_letters=120, help_text="The choices of the type enum, one on each line.")
    required_for = LinesField(
        most_letters=64,
        help_text="Codes of the platform's categories whose active products need a value, one on each line.",
    )
    localizable = forms.BooleanField(
        required=False, widget=UnfoldBooleanSwitchWidget(), help_text="A text may differ by language."
    )


class RevisionForm(ReasonForm):
    """What can change of an attribute definition, with the reason."""

    name = AttributeForm.base_fields["name"]
    allowed_values = AttributeForm.base_fields["allowed_values"]
    required_for = AttributeForm.base_fields["required_for"]
    active = forms.BooleanField(
        required=False, widget=UnfoldBooleanSwitchWidget(), help_text="Whether new values are accepted."
    )

    @classmethod
    def initial_of(cls, row: AttributeDefinition) -> dict[str, Any]:
        """Show what holds now."""
        return {name: getattr(row, name) for name in AttributeDefinition.WRITABLE}


def _define(click: ButtonClick) -> AttributeDefinition:
    data = {name: click.data[name] for name in AttributeForm.base_fields if name != "reason"}
    return define_attribute(click.actor, data, click.at)


def _revise(click: ButtonClick) -> None:
    revise_attribute(
        click.actor, click.row, {name: click.data[name] for name in AttributeDefinition.WRITABLE}, click.at
    )


@admin.register(AttributeDefinition)
class AttributeDefinitionAdmin(StaffAdmin):
    """What values the attributes of products take, for every supplier."""

    area = Area.CATALOG
    list_display = ("code", "name", "type", "unit", "all_categories", "localizable", "active", "updated_at")
    list_filter = ("type", "localizable", "active")
    search_fields = ("code", "name")
    ordering = ("code", "id")
    fields = (
        "id", "code", "name", "type", "unit", "all_choices", "all_categories", "localizable", "active", "created_at",
        "updated_at", "version",
    )  # fmt: skip
    readonly_fields = ("all_choices", "all_categories")
    additions = (
        Button(
            name="define",
            label="Define an attribute",
            permission=Permission.DEFINE_ATTRIBUTES,
            run=_define,
            explains="Every supplier can give it a value. Its code, type and unit stay as they are.",
            form=AttributeForm,
            icon="add",
        ),
    )
    buttons = (
        Button(
            name="revise",
            label="Revise",
            permission=Permission.DEFINE_ATTRIBUTES,
            run=_revise,
            explains="Values that suppliers have given stay. New ones follow the revised definition, and a product that "
            "lacks a value its category now requires cannot be saved as active without one.",
            form=RevisionForm,
            icon="edit",
        ),
    )

    @column(description="Choices")
    def all_choices(self, row: AttributeDefinition) -> str:
        """The values that an attribute of the type enum takes."""
        return columns.words(row.allowed_values)

    @column(description="Required for")
    def all_categories(self, row: AttributeDefinition) -> str:
        """The categories whose active products need a value."""
        return columns.words(row.required_for)
