"""Attribute definitions in the admin: who defines them, what is refused, and what a revision changes."""

from typing import Any

import pytest

from ledger.models import Event
from organizations.models import User
from suppliers.catalog.models import AttributeDefinition
from tests import factories
from tests.admin.people import REASON, signed_in, staff

LIST = "/admin/suppliers/attributedefinition/"


def definition(**changes: Any) -> dict[str, Any]:
    return {
        "code": f"trait-{factories.suffix()}",
        "name": "Trait",
        "type": "enum",
        "allowed_values": "one\r\n two \r\none\r\n",
        "required_for": "gloves",
        "reason": REASON,
    } | changes


def told_of(person: User) -> list[str]:
    return [row.data["action"] for row in Event.objects.using("platform").filter(subject_id=person.pk)]


@pytest.fixture(autouse=True)
def _remove_definitions() -> Any:
    yield
    AttributeDefinition.objects.using("owner").filter(code__startswith="trait-").delete()


def test_supply_staff_define_and_revise() -> None:
    person = staff("supply")
    browser, sent = signed_in(person=person), definition()

    assert "do/define/" in browser.get(LIST).content.decode()
    answer = browser.post(f"{LIST}do/define/", sent)
    row = AttributeDefinition.objects.get(code=sent["code"])
    page = f"{LIST}{row.pk}/"
    form = browser.get(f"{page}do/revise/").content.decode()
    revised = {"name": "Traits", "allowed_values": "one\ntwo\nthree", "required_for": "", "reason": REASON}
    changed = browser.post(f"{page}do/revise/", revised)

    assert (answer.status_code, answer["Location"]) == (302, f"{page}change/")
    assert (row.allowed_values, row.required_for, row.active) == (["one", "two"], ["gloves"], True)
    assert "one\ntwo" in form
    assert changed.status_code == 302
    row.refresh_from_db()
    assert (row.name, row.allowed_values, row.required_for, row.active, row.version) == (
        "Traits", ["one", "two", "three"], [], False, 2,
    )  # fmt: skip
    assert sorted(told_of(person)) == ["attributedefinition.define", "attributedefinition.revise"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"code": "colour"}, "Another attribute has this code."),
        ({"code": "a b"}, "Use letters, digits"),
        ({"allowed_values": ""}, "Name the choices."),
        ({"type": "integer"}, "Only the type enum has choices."),
        ({"localizable": "on"}, "Only texts differ by language."),
        ({"required_for": "gloves\nmoon-dust"}, "no active category of the code moon-dust"),
        ({"allowed_values": "x" * 121}, "at most 120 characters"),
        ({"reason": ""}, "This field is required."),
    ],
)
def test_definition_that_contradicts_itself_is_refused(changes: dict[str, str], said: str) -> None:
    person = staff("supply")

    answer = signed_in(person=person).post(f"{LIST}do/define/", definition(**changes))

    assert answer.status_code == 200
    assert said in answer.content.decode()
    assert not AttributeDefinition.objects.filter(name="Trait").exists()
    assert told_of(person) == []


@pytest.mark.parametrize("role", ["support", "finance", "security"])
def test_other_staff_do_not_define(role: str) -> None:
    browser = signed_in(role)

    assert browser.post(f"{LIST}do/define/", definition()).status_code in (403, 404)
    assert "do/define/" not in browser.get(LIST).content.decode()
    assert browser.get(f"{LIST}do/nothing/").status_code in (403, 404)
