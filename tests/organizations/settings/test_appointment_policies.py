"""The policies that appointments follow."""

import pytest

from tests.factories import as_member, provision


@pytest.mark.parametrize(
    ("policy", "sound", "wrong"),
    [
        ("appointment_slot_minutes", [5, 1440], [4, 1441, "15"]),
        ("appointment_reminder_minutes", [[], [1440, 60]], [[0], 60]),
        ("holidays", [[], ["2026-12-25"]], [["2026-02-30"], ["20261225"], ["christmas"]]),
    ],
)
def test_a_policy_takes_what_it_can_follow(policy, sound, wrong):
    tenant = provision()
    api, path = as_member(tenant), f"/v1/tenants/{tenant.id}/configuration"
    for value in sound:
        answer = api.patch(path, json={"policies": {policy: value}})
        assert answer.status_code == 200, answer.content
        assert answer.json()["data"]["policies"][policy] == value
    for value in wrong:
        answer = api.patch(path, json={"policies": {policy: value}})
        assert (answer.status_code, answer.json()["code"]) == (400, "validation_error"), answer.content
