"""What `$expand` and `$validate-code` answer of a value set. Source: R4 valueset-operation-expand.html, -validate-code.html."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from core.arrays import array_literal
from core.errors import NotFound
from core.pipeline import Call, Statement
from fhir_api import terminology
from fhir_api.ids import new_urn
from fhir_api.keys import comparable
from fhir_api.resources import Json, instant
from fhir_api.resources.types import FHIR_VERSION
from fhir_api.terminology import Code

from .queries import Run

_KEPT = Statement.of(
    "SELECT set_version, title, codes FROM fhir_api_valueset"
    " WHERE tenant_id = $1 AND url = ANY($2::text[]) ORDER BY updated_at DESC, id DESC"
)


class NoSuchValueSet(NotFound):
    """The value set is neither one of R4's small ones nor one of the tenant's own."""

    code = "value_set_not_found"
    title = "There is no such value set."


@dataclass(frozen=True, slots=True)
class Known:
    """A value set that this server holds."""

    url: str
    version: str
    title: str
    codes: tuple[Code, ...]


def known(tenant_id: UUID, url: str, version: str, run: Run) -> Known:
    """The value set of an address; without a version, the tenant's that came last.

    :raises NoSuchValueSet: there is none.
    """
    address = f"{url}|{version}" if version else url
    official = terminology.members(address)
    if official is not None:
        return Known(url, FHIR_VERSION, "", official)
    (rows,) = run([Call(_KEPT, [str(tenant_id), array_literal([url])])])
    for number in range(len(rows)):
        own, title, codes = (value or b"" for value in rows.row(number))
        if not version or own == version.encode():
            listed = orjson.loads(codes or b"{}").items()
            return Known(
                url, own.decode(), title.decode(), tuple((system, code) for system, some in listed for code in some)
            )
    raise NoSuchValueSet("The value sets here are the small ones of R4's required bindings and the tenant's own.")


def expansion(found: Known, *, text: str, offset: int, count: int | None, at: datetime) -> Json:
    """The ValueSet with a page of its codes, those that contain a text; no displays are known."""
    wanted = comparable(text)
    codes = [one for one in found.codes if wanted in comparable(one[1])]
    page = codes[offset:] if count is None else codes[offset : offset + count]
    parameters: list[Json] = [{"name": "filter", "valueString": text}] if text else []
    parameters += [{"name": "count", "valueInteger": count}] if count is not None else []
    shown: Json = {
        "identifier": new_urn(),
        "timestamp": instant(at),
        "total": len(codes),
        "offset": offset,
        **({"parameter": parameters} if parameters else {}),
        **({"contains": [{"system": system, "code": code} for system, code in page]} if page else {}),
    }
    named = {"url": found.url, "version": found.version, "title": found.title}
    told = {name: value for name, value in named.items() if value}
    return {"resourceType": "ValueSet", **told, "status": "active", "expansion": shown}


def validation(found: Known, codes: Sequence[Code]) -> Json:
    """The Parameters that say whether one of the codes is in the value set."""
    is_member = not set(codes).isdisjoint(found.codes)
    parameters: list[Json] = [{"name": "result", "valueBoolean": is_member}]
    if not is_member:
        parameters.append({"name": "message", "valueString": _message(found, codes)})
    return {"resourceType": "Parameters", "parameter": parameters}


def _message(found: Known, codes: Iterable[Code]) -> str:
    shown = ", ".join(f"{system}|{code}" for system, code in codes)
    return f"Not in the value set {found.url}: {shown[:500]}." if shown else "No coding has a system and a code."
