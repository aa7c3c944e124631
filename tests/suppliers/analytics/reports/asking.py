"""Short ways to ask for reports, to let workers write them, and to read their files."""

import csv
import io
import json
import re
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID
from xml.etree import ElementTree as ET

from core.db import tenant_context
from core.rounds import until
from ledger.public import Event
from organizations.models import Quota
from suppliers.analytics.reports import worker
from suppliers.analytics.reports.models import Report, ReportPart
from suppliers.analytics.reports.sources import SOURCES
from suppliers.analytics.reports.states import OPEN
from tests.factories import Api

PATH = "/v1/analytics/reports"
_XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def ask(api: Api, kind: str, form: str = "csv", *, headers: Any = None, **parameters: Any) -> Any:
    """Ask for a report; `begin` stands for `from`."""
    if "begin" in parameters:
        parameters["from"] = parameters.pop("begin")
    return api.post(PATH, json={"type": kind, "format": form, "parameters": parameters}, headers=headers)


def asked(api: Api, kind: str, form: str = "csv", **parameters: Any) -> dict[str, Any]:
    """Ask for a report; return it."""
    answer = ask(api, kind, form, **parameters)
    assert answer.status_code == 202, answer.content
    found: dict[str, Any] = answer.json()["data"]
    assert answer.headers["Location"] == f"{PATH}/{found['id']}"
    return found


def read(api: Api, key: str) -> dict[str, Any]:
    """Read a report."""
    answer = api.get(f"{PATH}/{key}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()["data"]
    return found


def carry_out(api: Api, key: str, seconds: float = 30) -> dict[str, Any]:
    """Carry reports on, as the task does, until one has ended."""
    end = time.monotonic() + seconds
    while True:
        found = read(api, key)
        if found["status"] not in OPEN or time.monotonic() > end:
            return found
        worker.carry_on(go_on=until(0.5))


def carried_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    """Carry reports on until something is so; reports that other tests have left come in between."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        worker.carry_on(go_on=until(0.5))


def content(api: Api, file_id: str) -> bytes:
    """Read the content of a file by its link."""
    url = api.get(f"/v1/files/{file_id}").json()["data"]["content_url"]
    answer = Api().client.get(url)
    assert answer.status_code == 200, answer.content
    try:
        return b"".join(answer.streaming_content)
    finally:
        answer.close()


def rows_of(form: str, whole: bytes) -> list[dict[str, Any]]:
    """Return the rows of a file by the names of its columns; values of CSV are texts."""
    if form == "json":
        found: list[dict[str, Any]] = json.loads(whole)["rows"]
        return found
    if form == "csv":
        return list(csv.DictReader(io.StringIO(whole.decode(), newline="")))
    head, *rows = cells(whole)
    names = [one["value"] for one in head.values()]
    return [{name: row.get(letter, {}).get("value") for name, letter in zip(names, head, strict=True)} for row in rows]


def cells(whole: bytes) -> list[dict[str, dict[str, Any]]]:
    """Return the cells of a workbook's first sheet by their columns: type, value, and whether there is a formula."""
    with zipfile.ZipFile(io.BytesIO(whole)) as book:
        assert book.testzip() is None
        sheet = ET.fromstring(book.read("xl/worksheets/sheet1.xml"))
        assert not [name for name in book.namelist() if "external" in name.lower() or "vba" in name.lower()]
    found = []
    for row in sheet.iter(f"{_XML}row"):
        made = {}
        for cell in row.iter(f"{_XML}c"):
            kind = cell.get("t", "n")
            text = "".join(part.text or "" for part in cell.iter(f"{_XML}t" if kind == "inlineStr" else f"{_XML}v"))
            value = text if kind == "inlineStr" else float(text)
            letter = re.sub(r"\d", "", cell.get("r", ""))
            made[letter] = {"type": kind, "value": value, "formula": cell.find(f"{_XML}f") is not None}
        found.append(made)
    return found


def got(api: Api, kind: str, form: str = "json", **parameters: Any) -> list[dict[str, Any]]:
    """Ask for a report, let it be written, and return its rows."""
    return finished(api, asked(api, kind, form, **parameters))


def finished(api: Api, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Let a report be written; return its rows."""
    done = carry_out(api, report["id"])
    assert done["status"] == "ready", done
    rows = rows_of(report["format"], content(api, done["file_id"]))
    assert (done["rows"], done["rows_done"], done["rows_total"]) == (len(rows),) * 3
    return rows


def stored(tenant_id: UUID, key: str) -> Report:
    """Return the row of a report."""
    with tenant_context(tenant_id):
        return Report.objects.get(tenant_id=tenant_id, id=key)


def parts(tenant_id: UUID) -> int:
    """Return how many parts a tenant's reports have."""
    with tenant_context(tenant_id):
        return ReportPart.objects.filter(tenant_id=tenant_id).count()


def facts(tenant_id: UUID, key: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what was told of a report."""
    with tenant_context(tenant_id):
        rows = Event.objects.filter(tenant_id=tenant_id, resource_id=key).order_by("occurred_at", "id")
        return [(row.type, row.data) for row in rows]


def used(tenant_id: UUID, key: str = "exports_per_day") -> int:
    """Return how many units of a quota are used."""
    with tenant_context(tenant_id):
        return int(sum(Quota.objects.filter(tenant_id=tenant_id, key=key).values_list("used", flat=True)))


def limited(tenant_id: UUID, key: str, limit: int) -> None:
    """Set the limit of a quota."""
    with tenant_context(tenant_id):
        row = Quota.objects.get(tenant_id=tenant_id, key=key)
        row.limit, row.enforcement = limit, "hard"
        row.save_version("limit", "enforcement", at=row.updated_at)


def in_batches_of(monkeypatch: Any, kind: str, keys: int) -> None:
    """Let the batches of a type have so many keys."""
    monkeypatch.setitem(SOURCES, kind, replace(SOURCES[kind], keys=keys))
