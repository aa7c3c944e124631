"""Bare views of prescriptions: no credential, no limit, nothing but the statement that ours sends, one trip.

Mounted by `bench.stock_settings` only. With `record=1` the record that every read of a patient's data owes is written in
the same trip.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from uuid import UUID

from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import path

from api.listing import cursor_call, one_call, read_query
from api.shapes import Selection
from core.conditions import Condition
from core.pipeline import Call, Statement, run
from prescriptions.evidence.views import _CHAIN_OF_ONE, _CHAINED
from prescriptions.prescribing.representations import PrescriptionOut
from prescriptions.prescribing.views import _ISSUED

_NOTED = Statement.of(
    "WITH noted AS (INSERT INTO fhir_api_accessrecord (created_at, id, tenant_id, subject_id, subject_kind, credential,"
    " request_id, interaction, resource_type, resource_id, parameters, patients, count, outcome, reason)"
    " VALUES (clock_timestamp(), uuidv7(), $1, $1, 'user', 'bench', '', 'rx.read', 'Prescription', $2, '{}',"
    " ARRAY['bench-patient-1'], 1, 200, '') RETURNING created_at, id, tenant_id, patients)"
    " INSERT INTO fhir_api_accesspatient (created_at, id, tenant_id, patient)"
    " SELECT created_at, id, tenant_id, unnest(patients) FROM noted"
)


@lru_cache(maxsize=1024)
def _rx(tenant: UUID, text: str) -> Call:
    return cursor_call(read_query(_ISSUED, QueryDict(text)), tenant, after=None, limit=20)


@lru_cache(maxsize=1024)
def _audit(tenant: UUID, text: str) -> Call:
    return cursor_call(read_query(_CHAINED, QueryDict(text)), tenant, after=None, limit=20)


def _answer(request: HttpRequest, tenant: UUID, call: Call, one: str = "") -> HttpResponse:
    noted = [Call(_NOTED, [str(tenant), one])] if "record" in request.GET else []
    (rows, *_) = run([call, *noted])
    items = [rows.value(number) or b"" for number in range(len(rows))]
    return HttpResponse(b'{"success":true,"data":[' + b",".join(items) + b"]}", content_type="application/json")


def _list(made: Callable[[UUID, str], Call]) -> Callable[..., HttpResponse]:
    def view(request: HttpRequest, tenant: UUID) -> HttpResponse:
        """Answer the first page."""
        text = request.META["QUERY_STRING"].replace("&record=1", "")
        return _answer(request, tenant, made(tenant, text))

    return view


def one(request: HttpRequest, tenant: UUID, pk: UUID) -> HttpResponse:
    """Answer one prescription with its items."""
    return _answer(request, tenant, one_call(PrescriptionOut.shape, Selection(), tenant, str(pk)), str(pk))


def audit_of_one(request: HttpRequest, tenant: UUID, pk: UUID) -> HttpResponse:
    """Answer the newest entries of one prescription."""
    query = read_query(_CHAIN_OF_ONE, QueryDict(""))
    narrowed = replace(query, extra=(Condition('t."prescription_id" = {0}', (str(pk),)),))
    return _answer(request, tenant, cursor_call(narrowed, tenant, after=None, limit=50), str(pk))


urlpatterns = [
    path("bare/<uuid:tenant>/prescriptions", _list(_rx)),
    path("bare/<uuid:tenant>/prescriptions/<uuid:pk>", one),
    path("bare/<uuid:tenant>/prescriptions/<uuid:pk>/audit", audit_of_one),
    path("bare/<uuid:tenant>/audit", _list(_audit)),
]
