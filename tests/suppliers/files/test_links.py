"""Links to contents: what they are for, how long they hold, and what guessing them costs."""

from datetime import timedelta

from core.clock import now
from suppliers.files import links
from tests.factories import Api
from tests.suppliers.files.samples import ready


def test_link_holds_five_minutes_for_reading_alone(api, supplier):
    made = ready(api)
    at = now()
    token = links.content_url(supplier.id, made["id"], at=at).rpartition("/")[2]
    assert links.opened(token, links.READ, at=at + timedelta(seconds=298)).tenant_id == supplier.id
    path = "/v1/files/content/"
    aged = links.content_url(supplier.id, made["id"], at=at - timedelta(minutes=5)).rpartition("/")[2]
    for wrong in (aged, token[:-2], token + "AA", "hpf_x", "x", token.removeprefix("hpf_")):
        answer = Api().client.get(path + wrong)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), wrong
    assert Api().client.put(path + token, b"x").status_code == 404


def test_etag_of_a_ready_file_changes_with_its_link_and_never_the_version(api):
    made = ready(api)
    answer = api.get(f"/v1/files/{made['id']}")
    version, _, minute = answer.headers["ETag"].strip('"').partition(";")
    assert version == "2"
    assert minute
    assert (
        api.patch(
            f"/v1/files/{made['id']}", json={"title": "T"}, headers={"If-Match": answer.headers["ETag"]}
        ).status_code
        == 200
    )


def test_contents_come_from_another_origin_where_one_is_set(api, settings):
    settings.FILES_BASE_URL = "https://files.example.org/"
    made = ready(api)
    assert made["content_url"].startswith("https://files.example.org/v1/files/content/hpf_")


def test_link_is_its_own_credential_and_wrong_ones_are_counted(api, settings):
    made = ready(api)
    settings.RATE_LIMIT_OVERRIDES = {**settings.RATE_LIMIT_OVERRIDES, "address": 3}
    browser = Api().client

    def status(link):
        answer = browser.get(link, REMOTE_ADDR="203.0.113.77")
        answer.close()
        return answer.status_code

    assert [status(made["content_url"]) for _ in range(6)] == [200] * 6
    assert [status(made["content_url"] + "x") for _ in range(4)] == [404, 404, 404, 429]


def test_names_beyond_ascii_reach_the_reader_whole(api):
    made = ready(api, name="Über \u202e“uns”.png".encode())
    answer = Api().client.get(made["content_url"])
    answer.close()
    assert made["name"] == "Über “uns”.png"
    assert answer.headers["Content-Disposition"] == "attachment; filename*=utf-8''%C3%9Cber%20%E2%80%9Cuns%E2%80%9D.png"
