"""A table of medications on its way in: a file is read and compared, then applied as it was shown, or not at all."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from typing import Any, Final
from uuid import UUID

from django import forms
from django.core import signing
from unfold.widgets import UnfoldAdminSelectWidget

from core.errors import Conflict
from organizations.staff.buttons import ReasonForm
from prescriptions.medications.csv_files import UnusableTable, rows_of
from prescriptions.medications.loading import Load, Target, load
from prescriptions.medications.tables import TABLES, Row, Table

MOST_BYTES: Final = 2_000_000
SHOWN_FOR: Final = timedelta(minutes=30)
_CHOICES: Final = [(name, name.replace("_", " ")) for name in TABLES]


class TableMoved(Conflict):
    """The table has another version than the one that the differences were shown against."""

    code = "table_moved"
    title = "The table was loaded meanwhile; look at the differences again."


class PreviewForm(forms.Form):
    """Which table, and its whole content as CSV."""

    table = forms.ChoiceField(choices=_CHOICES, widget=UnfoldAdminSelectWidget())
    file = forms.FileField(
        help_text="CSV in UTF-8 whose first line names the columns. It states the whole table: rows that it lacks are removed.",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,text/csv"}),
    )

    def clean_file(self) -> Any:
        """Refuse what is too long for a page."""
        found = self.cleaned_data["file"]
        if (found.size or 0) > MOST_BYTES:
            raise forms.ValidationError(
                f"At most {MOST_BYTES:,} bytes; longer files are loaded by import_clinical_tables."
            )
        return found


class ApplyForm(ReasonForm):
    """The file that was shown, sealed, and the reason."""

    shown = forms.CharField(widget=forms.HiddenInput())


@dataclass(frozen=True, slots=True)
class Preview:
    """What a file would change, and the seal under which it may be applied."""

    found: Load
    name: str
    seal: str

    @property
    def is_empty(self) -> bool:
        """Tell whether the file changes nothing."""
        return not (self.found.added or self.found.changed or self.found.removed)


def preview(tenant_id: UUID, data: dict[str, Any], at: datetime) -> Preview:
    """Compare a file with the tenant's table; nothing is written.

    :raises UnusableTable: the file has faults.
    """
    text, name = _text(data["file"]), str(data["file"].name)[:200]
    found = _load(tenant_id, data["table"], text, name, at, dry_run=True)
    held = {"table": data["table"], "name": name, "text": text, "version": found.version}
    return Preview(found, name, signing.dumps(held, salt=_salt(tenant_id), compress=True))


def apply(tenant_id: UUID, seal: str, at: datetime) -> Load:
    """Load the file that was shown, if the table is still the one that it was compared with.

    :raises TableMoved: it is not, or the differences were shown too long ago.
    """
    try:
        held = signing.loads(seal, salt=_salt(tenant_id), max_age=SHOWN_FOR)
    except signing.BadSignature as error:
        raise TableMoved("What was shown is not valid any more; upload the file again.") from error
    found = _load(tenant_id, held["table"], held["text"], held["name"], at, dry_run=False)
    if found.version - found.is_new != held["version"]:
        raise TableMoved
    return found


def _load(tenant_id: UUID, table: str, text: str, name: str, at: datetime, *, dry_run: bool) -> Load:
    return load(TABLES[table], _rows(TABLES[table], text), Target(tenant_id), source=name, at=at, dry_run=dry_run)


def _rows(table: Table, text: str) -> list[Row]:
    return rows_of(table, StringIO(text, newline=""))


def _text(file: Any) -> str:
    try:
        found: str = file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableTable(f"The file is not UTF-8: byte {error.start} cannot be read.") from error
    return found


def _salt(tenant_id: UUID) -> str:
    return f"prescriptions.tables.{tenant_id}"
