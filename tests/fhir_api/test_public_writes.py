"""The door of the clinical record: what other apps write there, and keep from being written over FHIR."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import IntegrityError, OperationalError, connections, transaction

from core.clock import now
from core.db import tenant_context
from core.ids import uuid7_text
from fhir_api import public
from fhir_api.intentions import ReferenceNotFound
from fhir_api.models import Resource
from fhir_api.outcomes import InvalidResource
from tests import factories
from tests.fhir_api.clients import code_of, issue_type, patient, reader
from tests.fhir_api.ward import WardRound, names


@pytest.fixture(scope="module")
def ward():
    return WardRound()


@pytest.fixture(scope="module")
def elsewhere():
    return WardRound()


# -- project -----------------------------------------------------------------------------------------------------------


def test_projected_resource_reads_over_fhir_and_tells_one_fact(ward):
    order = ward.order()
    shown = ward.sign(order)
    answer = ward.doctor.get(ward.address(order))
    assert (answer.status_code, answer.json()) == (200, shown.resource())
    assert (shown.version, answer.headers["ETag"]) == (1, 'W/"1"')
    assert ward.facts(order) == [("fhir.MedicationRequest.created", ward.actor.subject_id)]


def test_projected_change_makes_one_version_and_equal_content_none(ward):
    order = ward.order()
    first = ward.sign(order)
    assert ward.sign(dict(reversed(order.items()))) == first
    assert ward.sign({**order, "status": "cancelled"}).version == 2
    assert [kind for kind, _ in ward.facts(order)] == [
        "fhir.MedicationRequest.created",
        "fhir.MedicationRequest.updated",
    ]
    assert ward.doctor.get(f"{ward.address(order)}/_history").json()["total"] == 2


def test_several_are_answered_in_their_order(ward):
    orders = [ward.order() for _ in range(3)]
    with tenant_context(ward.tenant.id):
        shown = public.project(ward.actor, orders, at=now())
        assert public.project(ward.actor, [], at=now()) == []
    assert [one.id for one in shown] == [order["id"] for order in orders]


def test_projection_goes_back_with_the_transaction(ward):
    order = ward.order()
    with pytest.raises(IntegrityError), tenant_context(ward.tenant.id):
        assert public.project(ward.actor, [order], at=now())
        raise IntegrityError
    assert ward.doctor.get(ward.address(order)).status_code == 404
    assert ward.facts(order) == []


def test_projection_outside_of_a_transaction_is_a_fault_of_the_caller(ward):
    with pytest.raises(RuntimeError, match="inside a transaction"):
        public.project(ward.actor, [ward.order()], at=now())


def test_invalid_projection_is_refused_and_nothing_is_written(ward):
    order = ward.order(status="unheard-of")
    with pytest.raises(InvalidResource):
        ward.sign(order)
    assert ward.doctor.get(ward.address(order)).status_code == 404
    assert ward.facts(order) == []


def test_projection_refers_to_what_is_there_in_its_own_tenant(ward, elsewhere):
    for whose in (uuid7_text(), elsewhere.eva["id"]):
        order = ward.order(subject={"reference": f"Patient/{whose}"})
        with pytest.raises(ReferenceNotFound):
            ward.sign(order)
        assert ward.doctor.get(ward.address(order)).status_code == 404


def lock(row, strength):
    with transaction.atomic("platform"), connections["platform"].cursor() as cursor:
        cursor.execute(f"SELECT FROM fhir_api_resource WHERE id = %s FOR {strength} NOWAIT", [row])


def test_what_a_projection_refers_to_is_held_against_deletion_and_not_against_change(ward):
    with tenant_context(ward.tenant.id):
        row = Resource.objects.get(tenant_id=ward.tenant.id, type=1, fhir_id=ward.eva["id"]).id
        public.project(ward.actor, [ward.order()], at=now())
        with pytest.raises(OperationalError, match="could not obtain lock"):
            lock(row, "UPDATE")
        lock(row, "NO KEY UPDATE")
    lock(row, "UPDATE")


def test_feed_knows_of_a_projection_from_before_its_time(ward):
    with tenant_context(ward.tenant.id):
        (shown,) = public.project(ward.actor, [ward.order()], at=now() - timedelta(hours=1))
        with connections["platform"].cursor() as cursor:
            cursor.execute(
                "SELECT min(((classid::bigint << 32) | objid::bigint) & ((1::bigint << 40) - 1)) FROM pg_locks"
                " WHERE locktype = 'advisory' AND mode = 'ShareLock' AND ((classid::bigint << 32) | objid::bigint) >> 40 = %s",
                [ward.tenant.id.int & 0x7FFFFF],
            )
            (mark,) = cursor.fetchone()
    assert mark is not None
    assert shown.last_updated.timestamp() * 1000 >= 1577836800000 + mark


def test_token_of_another_patient_does_not_narrow_what_the_platform_tells(ward):
    other = ward.doctor.made(patient())
    actor = replace(ward.actor, subject=replace(ward.actor.subject, patient=other["id"]))
    with tenant_context(ward.tenant.id):
        assert public.project(actor, [ward.order()], at=now())


def test_projection_is_seen_by_its_own_tenant_only(ward, elsewhere):
    order = ward.order()
    ward.sign(order)
    assert elsewhere.doctor.get(ward.address(order)).status_code == 404
    assert public.read(elsewhere.actor, names(order)) == {}


def test_app_projects_for_an_actor_who_may_not_write_over_fhir(ward):
    pharmacist = reader(ward.tenant)
    order = ward.order()
    actor = factories.actor_of(ward.tenant, ["pharmacist"])
    with tenant_context(ward.tenant.id):
        assert public.project(actor, [order], at=now())
    assert pharmacist.get(ward.address(order)).status_code == 200
    assert pharmacist.put(ward.address(order), {**order, "status": "stopped"}).status_code == 403


# -- own ---------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def signed(ward):
    order = ward.order(identifier=[{"system": "urn:orders", "value": uuid7_text()}])
    ward.sign(order)
    return order


def transaction_of(method, order, resource=None):
    entry = {"request": {"method": method, "url": f"MedicationRequest/{order['id']}"}}
    return {
        "resourceType": "Bundle",
        "type": "transaction",
        "entry": [entry | ({"resource": resource} if resource else {})],
    }


def test_writes_over_fhir_to_what_an_app_keeps_are_refused(ward, signed):
    path, changed = ward.address(signed), {**signed, "status": "stopped"}
    query = f"/MedicationRequest?identifier=urn:orders|{signed['identifier'][0]['value']}"
    before = ward.doctor.get(path).json()
    for answer in (
        ward.doctor.put(path, changed),
        ward.doctor.patch(path, [{"op": "replace", "path": "/status", "value": "stopped"}]),
        ward.doctor.delete(path),
        ward.doctor.put(query, changed),
        ward.doctor.delete(query),
        ward.doctor.post("", transaction_of("PUT", signed, changed)),
        ward.doctor.post("", transaction_of("DELETE", signed)),
    ):
        assert (answer.status_code, code_of(answer), issue_type(answer)) == (409, "projected_resource", "business-rule")
        assert f"/v1/orders/{signed['id']}" in answer.json()["issue"][0]["diagnostics"]
    assert ward.doctor.get(path).json() == before


def test_batch_tells_of_the_one_entry_and_writes_the_others(ward, signed):
    bundle = transaction_of("DELETE", signed) | {"type": "batch"}
    bundle["entry"].append({"request": {"method": "POST", "url": "Patient"}, "resource": patient()})
    answer = ward.doctor.post("", bundle).json()
    assert [entry["response"]["status"][:3] for entry in answer["entry"]] == ["409", "201"]
    assert answer["entry"][0]["response"]["outcome"]["issue"][0]["code"] == "business-rule"


def test_equal_content_over_fhir_changes_nothing_and_is_answered(ward, signed):
    answer = ward.doctor.put(ward.address(signed), ward.doctor.get(ward.address(signed)).json())
    assert (answer.status_code, answer.headers["ETag"]) == (200, 'W/"1"')


def test_resources_of_the_type_that_came_in_over_fhir_stay_writable(ward):
    made = ward.doctor.made({name: value for name, value in ward.order().items() if name != "id"})
    assert ward.doctor.put(ward.address(made), {**made, "status": "stopped"}).status_code == 200
    assert ward.doctor.delete(ward.address(made)).status_code == 204


def test_what_one_tenants_app_keeps_is_nothing_to_another_tenant(ward, elsewhere, signed):
    body = elsewhere.order(id=signed["id"])
    assert elsewhere.doctor.put(elsewhere.address(signed), body).status_code == 201


def test_owner_that_is_registered_again_is_asked_once(ward, signed):
    asked = []

    def counting(tenant_id, ids):
        asked.extend(ids)
        return {}

    for _ in range(2):
        public.own("MedicationStatement", counting)
    statement = ward.statement(ward.eva, "161")
    assert asked == []  # its id is the server's, made just now
    changed = {**statement, "status": "completed"}
    assert ward.doctor.put(f"/MedicationStatement/{statement['id']}", changed).status_code == 200
    assert asked == [statement["id"]]
