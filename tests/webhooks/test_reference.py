"""The catalogue and the document about deliveries: the same for every tenant, in the envelope of the credential."""

import pytest

from ledger import public as ledger
from ledger.registry import register
from tests.contract import document
from tests.factories import Api, api_key, as_member
from tests.webhooks.worlds import drain
from webhooks import schedule


def test_catalogue_is_paged_by_the_credentials_family(world):
    total = len(ledger.catalogue())
    page = world.api.get("/v1/webhooks/event-types?limit=15&page=2")
    data = page.json()["data"]
    assert (data["page"], data["limit"], data["total"], len(data["items"])) == (2, 15, total, 15)
    assert 'rel="prev"' in page["Link"]
    member, seen, cursor = as_member(world.tenant), [], ""
    while cursor is not None:
        answer = member.get(f"/v1/webhooks/event-types?limit=15{f'&cursor={cursor}' if cursor else ''}").json()
        seen, cursor = seen + answer["data"], answer["next_cursor"]
    assert [kind["type"] for kind in seen] == list(ledger.catalogue())
    assert data["items"] == seen[15:30]


def test_catalogue_tells_the_class_of_data(world):
    found = world.event_types()
    assert found["product.created"]["data_class"] == "none"
    assert found["membership.activated"]["data_class"] == "personal"
    assert all(set(kind) >= {"type", "version", "schema", "example", "data_class"} for kind in found.values())


def test_unknown_class_of_data_is_a_programming_error():
    class Strange(ledger.EventType):
        type = "strange.happened"
        resource = "strange"
        data_class = "secret"

    with pytest.raises(ValueError, match="data class"):
        register(Strange)
    assert "strange.happened" not in ledger.catalogue()


def test_catalogue_and_meta_are_not_sent_twice(world):
    for path in ("/v1/webhooks/event-types", "/v1/webhooks/meta"):
        first = world.api.get(path)
        again = world.api.get(path, headers={"If-None-Match": first["ETag"]})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    pages = {world.api.get(f"/v1/webhooks/event-types?page={page}")["ETag"] for page in (1, 2)}
    assert len(pages) == 2


@pytest.mark.parametrize("query", ["bogus=1", "cursor=x", "limit=0", "page=-1", "limit=1&limit=2"])
def test_catalogue_refuses_strange_parameters(world, query):
    assert world.api.get(f"/v1/webhooks/event-types?{query}").status_code == 400


def test_altered_cursor_is_refused(world):
    answer = as_member(world.tenant).get("/v1/webhooks/event-types?cursor=AQID")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_cursor")


def test_meta_tells_addresses_schedule_and_limits(world, settings):
    settings.WEBHOOKS_EGRESS_CIDRS = ["203.0.113.0/28"]
    found = world.api.get("/v1/webhooks/meta").json()["data"]
    assert found["egress_cidrs"] == ["203.0.113.0/28"]
    assert found["retries"]["schedule_seconds"] == list(schedule.DEFAULT)
    assert (found["retries"]["attempts"], found["retries"]["jitter"]) == (13, 0.2)
    assert found["timeouts"] == {"connect_seconds": 5.0, "total_seconds": 15.0}
    assert found["limits"]["endpoints"] == 100
    assert found["limits"]["payload_bytes"] == 65536
    assert [scheme["mark"] for scheme in found["signature"]["schemes"]] == ["v1", "v1a"]
    assert found["api_versions"] == ["2026-01-01"]
    assert world.api.get("/v1/webhooks/meta?x=1").json()["code"] == "unknown_parameter"


@pytest.mark.parametrize("path", ["event-types", "meta"])
def test_reading_them_needs_the_scope(world, path):
    nobody = Api(key=api_key(world.tenant, scopes=["catalog:read"]), tenant=world.tenant)
    assert nobody.get(f"/v1/webhooks/{path}").json()["code"] == "insufficient_scope"
    assert as_member(world.tenant).get(f"/v1/webhooks/{path}").status_code == 200


def test_document_describes_every_message_the_platform_sends(world, receiver):
    document.renew()
    sent = document.document()["webhooks"]
    assert list(sent) == list(ledger.catalogue())
    for item in sent.values():
        media = item["post"]["requestBody"]["content"]["application/json"]
        document.validator(media["schema"]).validate(media["example"])
    world.endpoint(receiver.url, events=["product.*"])
    world.record()
    drain()
    (arrival,) = receiver.received
    described = sent["product.created"]["post"]
    schema = described["requestBody"]["content"]["application/json"]["schema"]
    document.validator(schema).validate(arrival.event())
    headers = {document.resolve(header)["name"] for header in described["parameters"]}
    assert headers <= {name.lower() for name in arrival.headers}
