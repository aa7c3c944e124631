"""The pages of webhooks in a real browser: by day, by night and on a telephone; nothing foreign is loaded, nothing complains."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connections
from playwright.sync_api import Browser

from tests.admin.people import staff
from tests.admin.seats import Seat
from tests.webhooks.scenes import Scene, scene
from webhooks.models import Endpoint, Event

pytestmark = pytest.mark.browser

LOOKS: list[Any] = [(1440, "light"), (390, "dark")]
LONG_LOOKS: list[Any] = [(1440, "dark"), (390, "light")]


def made() -> Scene:
    """Make a scene in a thread of its own: the dispatcher needs an event loop, and Playwright keeps one in this thread."""

    def work() -> Scene:
        try:
            return scene()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()


@pytest.fixture(scope="module")
def shown(browser: Browser) -> Scene:
    return made()


def addresses(shown: Scene) -> dict[str, str]:
    base = "/admin/webhooks"
    return {
        "endpoints": f"{base}/endpoint/",
        "endpoint": f"{base}/endpoint/{shown.endpoint['id']}/change/",
        "deliveries": f"{base}/delivery/",
        "delivered": f"{base}/delivery/{shown.delivered.pk}/change/",
        "retrying": f"{base}/delivery/{shown.retrying.pk}/change/",
        "events": f"{base}/event/",
        "event": f"{base}/event/{shown.event.pk}/change/",
        "replays": f"{base}/replay/",
        "replay": f"{base}/replay/{shown.replay.pk}/change/",
        "replay-form": f"{base}/endpoint/{shown.endpoint['id']}/do/replay/",
        "expunge": f"{base}/event/{shown.event.pk}/do/expunge/",
    }


@pytest.mark.parametrize(
    ("width", "scheme"), [*LOOKS, *(pytest.param(*look, marks=pytest.mark.long) for look in LONG_LOOKS)]
)
def test_pages_look_right_and_load_nothing_foreign(browser, live_server_url, shown, width, scheme):
    seat = Seat(browser, live_server_url, width=width, scheme=scheme)
    asked: list[str] = []
    seat.page.on("request", lambda request: asked.append(request.url))
    seat.sign_in(staff())
    seat.act_in(shown.tenant)
    for name, address in addresses(shown).items():
        assert seat.open(address) == 200
        seat.shot(f"webhooks-{name}-{scheme}-{width}")
        spill = seat.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert spill <= 0, f"{name} is wider than the window"
    seat.context.close()

    assert seat.faults == []
    assert {urlsplit(url).netloc for url in asked if not url.startswith("data:")} == {urlsplit(live_server_url).netloc}


def test_charts_are_drawn_and_the_timeline_opens(seat, shown):
    seat.sign_in(staff())
    seat.act_in(shown.tenant)

    seat.open(addresses(shown)["endpoint"])
    for chart in ("#success-chart", "#latency-chart"):
        box = seat.page.locator(chart).bounding_box()
        assert box["width"] > 300
        assert box["height"] > 50
        assert seat.page.locator(f"{chart} rect").count() > 60
    seat.open(addresses(shown)["delivered"])
    assert seat.page.locator("#timeline > li").count() == 5
    seat.page.locator("#timeline summary").first.click()
    assert "no such warehouse" in seat.page.locator("#timeline").inner_text()
    assert seat.faults == []


def test_buttons_of_webhooks_call_the_actions(seat):
    shown = made()
    seat.sign_in(staff())
    seat.act_in(shown.tenant)
    key = shown.endpoint["id"]

    seat.press(f"/admin/webhooks/endpoint/{key}/do/disable/")
    assert "switched it off" in seat.page.inner_text("#state-words")
    seat.shot("webhooks-disabled")
    assert not shown.world.rows(Endpoint, id=key)[0].active
    seat.press(f"/admin/webhooks/endpoint/{key}/do/enable/")
    assert shown.world.rows(Endpoint, id=key)[0].active
    seat.press(f"/admin/webhooks/replay/{shown.replay.pk}/do/cancel/")
    seat.press(f"/admin/webhooks/endpoint/{key}/do/replay/", only="all")
    assert "is queued" in seat.page.inner_text("body")
    seat.press(f"/admin/webhooks/delivery/{shown.failed.pk}/do/redeliver/")
    assert "sent again now" in seat.page.inner_text("body")
    seat.shot("webhooks-sent-again")
    seat.press(addresses(shown)["expunge"], confirmation=str(shown.event))
    assert '"expunged": true' in seat.page.inner_text("body")
    seat.shot("webhooks-expunged")

    assert b"Jane Doe" not in bytes(shown.world.rows(Event, id=shown.event.pk)[0].body)
    assert seat.faults == []
