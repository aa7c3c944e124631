"""Files of licences: ready certificates of the own tenant, which are evidence from then on."""

from typing import Any

import pytest
from django.db import transaction

from core.actor import system_actor
from core.clock import now
from core.db import tenant_context
from core.ids import uuid7
from suppliers.company.models import SupplierLicense
from suppliers.files.actions import locked_file, reject_by_staff
from suppliers.files.models import File
from suppliers.files.refusals import FileBound
from tests.factories import Api, as_member, provision
from tests.suppliers.company.profiles import ME, license_body, patched, read, stored
from tests.suppliers.files.conftest import folder  # noqa: F401  # the store of the tests
from tests.suppliers.files.samples import counts, pdf, ready, upload


@pytest.fixture
def tenant() -> Any:
    return provision("supplier", qualified=False)


@pytest.fixture
def api(tenant: Any) -> Api:
    return as_member(tenant, ["supplier_admin"])


def certificate(api: Api, **more: Any) -> str:
    return str(ready(api, pdf(), purpose="certificate", name="wda.pdf", **more)["id"])


def test_licence_names_a_certificate_that_cannot_be_deleted_then(tenant: Any, api: Api) -> None:
    file_id = certificate(api)
    found = patched(api, licenses=[license_body(file_id=file_id)])
    assert [one["file_id"] for one in found["licenses"]] == [file_id]
    before = counts(tenant)

    answer = api.delete(f"/v1/files/{file_id}")

    assert (answer.status_code, answer.json()["code"], answer.json()["bound_to"]) == (409, "file_bound", ["license"])
    assert counts(tenant) == before
    assert api.get(f"/v1/files/{file_id}").json()["data"]["status"] == "ready"
    patched(api, licenses=[license_body()])
    assert api.delete(f"/v1/files/{file_id}").status_code == 204


def test_licence_names_no_file_of_others_of_another_purpose_or_in_quarantine(tenant: Any, api: Api) -> None:
    foreign = certificate(as_member(provision("supplier"), ["supplier_admin"]))
    document = ready(api, pdf(), purpose="product_document", name="a.pdf")["id"]
    scanning = upload(api, pdf(), purpose="certificate", name="b.pdf")["id"]
    good = certificate(api)
    with tenant_context(tenant.id):
        File.objects.filter(tenant_id=tenant.id, pk=scanning).update(status="scanning")
    bad = [foreign, document, scanning, str(uuid7())]
    bodies = [license_body(file_id=one, number=f"WDA-{number}") for number, one in enumerate([good, *bad])]

    answer = api.patch(ME, json={"trade_name": "Other", "licenses": bodies})

    assert (answer.status_code, answer.json()["code"]) == (400, "validation_error")
    told = [(one["field"], one["code"], one["message"]) for one in answer.json()["errors"]]
    text = "There is no such certificate that is ready."
    assert told == [(f"licenses.{number}.file_id", "unknown_file", text) for number in (1, 2, 3, 4)]
    assert stored(tenant) is None
    with tenant_context(tenant.id):
        assert not SupplierLicense.objects.filter(tenant_id=tenant.id).exists()


def test_licence_that_keeps_a_file_which_was_rejected_meanwhile_stays(tenant: Any, api: Api) -> None:
    file_id = certificate(api)
    patched(api, licenses=[license_body(file_id=file_id)])
    with tenant_context(tenant.id):
        File.objects.filter(tenant_id=tenant.id, pk=file_id).update(status="rejected", object_key="")
    patched(api, licenses=[license_body(file_id=file_id), license_body(number="WDA-2")])
    answer = api.patch(ME, json={"licenses": [license_body(number="WDA-2", file_id=file_id)]})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "unknown_file")
    assert len(read(api)["licenses"]) == 2


def test_staff_reject_no_evidence(tenant: Any, api: Api) -> None:
    file_id = certificate(api)
    patched(api, licenses=[license_body(file_id=file_id)])
    actor = system_actor(tenant.id)
    with tenant_context(tenant.id), transaction.atomic():
        with pytest.raises(FileBound) as refused:
            reject_by_staff(actor, locked_file(actor, file_id), now())  # type: ignore[arg-type]
        assert "license" in str(refused.value)
    assert api.get(f"/v1/files/{file_id}").json()["data"]["status"] == "ready"
    patched(api, licenses=[])
    with tenant_context(tenant.id), transaction.atomic():
        reject_by_staff(actor, locked_file(actor, file_id), now())  # type: ignore[arg-type]
    assert api.get(f"/v1/files/{file_id}").json()["data"]["status"] == "rejected"
