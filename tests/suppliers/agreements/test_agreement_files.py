"""Files of agreements: the author's own until the proposal, both parties' from then on, and those of the next version."""

from uuid import UUID, uuid4

import pytest

from core.db import tenant_context
from suppliers.agreements.models import PriceAgreement
from suppliers.files.models import File, FileBinding, ReceivedFile
from suppliers.files.states import FileStatus
from tests.factories import Api
from tests.suppliers.agreements.world import PATH, World, other
from tests.suppliers.agreements.world import world as new_world
from tests.suppliers.inventory.shelf import refused
from tests.suppliers.notifications.test_messages import a_file

FILES = "/v1/files"


def tenant_of(world, by):
    return {"supplier": world.supplier, "buyer": world.hospital}[by]


def reads(api: Api, key: str) -> bool:
    """Tell whether a client may read a file."""
    return api.get(f"{FILES}/{key}").status_code == 200


def files(world: World, by: str, key: str) -> list[str]:
    """Return the files that a side reads of an agreement."""
    answer = world.api(by).get(f"{PATH}/{key}")
    assert answer.status_code == 200, answer.content
    return [one["id"] for one in answer.json()["data"]["files"]]


def change(world, by, key, **changes):
    answer = world.api(by).patch(f"{PATH}/{key}", json=changes)
    assert answer.status_code == 200, answer.content
    return answer.json()["data"]


@pytest.mark.parametrize("by", ["supplier", "buyer"])
def test_a_file_of_a_draft_is_read_by_the_other_party_from_the_proposal_on(world, by):
    signed = a_file(tenant_of(world, by))
    key = world.drafted(by, file_ids=[signed])
    assert files(world, by, key) == [signed]
    assert not reads(world.api(other(by)), signed)

    assert world.act(by, key, "propose").status_code == 200
    assert files(world, other(by), key) == files(world, by, key) == [signed]
    shown = world.api(other(by)).get(f"{PATH}/{key}").json()["data"]["files"][0]
    assert {"id", "name", "content_type", "size", "purpose", "sha256", "title", "expires_on"} == set(shown)
    assert reads(world.api(other(by)), signed)
    assert not any(reads(side, signed) for side in (new_world().seller, new_world().buyer))
    refused(world.api(by).patch(f"{FILES}/{signed}", json={"visibility": "private"}), 409, "file_bound")
    refused(world.api(by).patch(f"{FILES}/{signed}", json={"bindings": []}), 409, "file_bound")
    refused(world.api(by).delete(f"{FILES}/{signed}"), 409, "file_bound")


def test_the_next_version_has_the_files_of_either_side_and_its_author_s_own(world):
    ours, theirs, third = a_file(world.supplier), a_file(world.hospital), a_file(world.supplier)
    key = world.active("supplier", file_ids=[ours])
    assert [one["id"] for one in change(world, "buyer", key, title="Gloves and masks")["files"]] == [ours]

    drafted = change(world, "buyer", key, file_ids=[theirs, ours])
    assert [one["id"] for one in drafted["files"]] == [theirs, ours]
    assert not reads(world.seller, theirs)
    assert world.act("buyer", key, "propose").status_code == 200
    assert world.act("supplier", key, "accept").status_code == 200
    assert reads(world.seller, theirs)
    assert files(world, "supplier", key) == files(world, "buyer", key) == [theirs, ours]
    first = world.seller.get(f"{PATH}/{key}?revision=1").json()["data"]
    assert [one["id"] for one in first["files"]] == [ours]

    assert [one["id"] for one in change(world, "supplier", key, file_ids=[third])["files"]] == [third]
    with tenant_context(world.supplier.id):
        assert [str(one.file_id) for one in ReceivedFile.objects.filter(tenant_id=world.supplier.id)] == [theirs]


def test_a_file_that_a_draft_names_no_more_is_free_again(world):
    first, second = a_file(world.supplier), a_file(world.supplier)
    key = world.drafted("supplier", file_ids=[first])
    version = world.seller.get(f"{PATH}/{key}").json()["data"]["version"]
    assert change(world, "supplier", key, file_ids=[first])["version"] == version
    change(world, "supplier", key, file_ids=[second])
    assert world.seller.delete(f"{FILES}/{first}").status_code == 204
    with tenant_context(world.supplier.id):
        bound = FileBinding.objects.filter(tenant_id=world.supplier.id)
        assert [(str(one.file_id), one.resource_type, str(one.resource_id)) for one in bound] == [
            (second, "agreement", key)
        ]


def test_foreign_unready_and_private_files_are_refused_and_nothing_is_written(world):
    before = world.stored()
    private = a_file(world.supplier)
    with tenant_context(world.supplier.id):
        File.objects.filter(tenant_id=world.supplier.id, id=private).update(visibility="private")
    for wrong, code in (
        (a_file(world.hospital), "unknown_file"),
        (str(uuid4()), "unknown_file"),
        (private, "file_private"),
    ):
        answer = world.seller.post(PATH, json=world.body("supplier", file_ids=[wrong]))
        error = refused(answer, 400, "validation_error")["errors"][0]
        assert (error["field"], error["code"]) == ("file_ids.0", code)
    refused(world.seller.post(PATH, json=world.body("supplier", file_ids=[private, private])), 400, "validation_error")
    assert world.stored() == before


def test_a_file_that_was_rejected_meanwhile_stops_the_proposal(world):
    signed = a_file(world.supplier)
    key = world.drafted("supplier", file_ids=[signed])
    with tenant_context(world.supplier.id):
        File.objects.filter(tenant_id=world.supplier.id, id=UUID(signed)).update(
            status=FileStatus.REJECTED.value, rejection_reason="staff"
        )
    error = refused(world.act("supplier", key, "propose"), 400, "validation_error")["errors"][0]
    assert (error["field"], error["code"]) == ("file_ids.0", "file_not_ready")
    with tenant_context(world.hospital.id):
        assert not PriceAgreement.objects.filter(tenant_id=world.hospital.id).exists()
    assert not reads(world.buyer, signed)
