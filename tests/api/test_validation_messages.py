"""What refusals of bodies and of filters say: all at once, what is missing first, with near matches and the choices."""

import pytest
from rest_framework import serializers

from api.serializers import StrictSerializer, read
from core.errors import InvalidFields
from suppliers.catalog.serializers import ProductCreateIn
from tests.factories import as_member, provision
from tests.suppliers.products import body


class PartIn(StrictSerializer):
    """A part with a choice."""

    level = serializers.ChoiceField(choices=["each", "case"])


class WholeIn(StrictSerializer):
    """A body with a required member, a choice, a list of choices and parts."""

    name = serializers.CharField()
    display_name = serializers.CharField(required=False)
    kind = serializers.ChoiceField(choices=["device", "consumable"], required=False)
    days = serializers.ListField(child=serializers.ChoiceField(choices=["mon", "tue"]), required=False)
    parts = PartIn(many=True, required=False)


def faults(data):
    with pytest.raises(InvalidFields) as refused:
        read(WholeIn, data)
    return refused.value.code, [(one.field, one.code, one.message) for one in refused.value.errors]


def test_what_is_missing_is_told_before_what_is_unknown_with_near_matches():
    code, told = faults({"nmae": "x", "kind": "devise", "zzz": 1})
    assert code == InvalidFields.code
    assert told == [
        ("name", "required", "This field is required."),
        ("kind", "invalid_choice", '"devise" is not a valid choice; choose one of device, consumable.'),
        ("nmae", "unknown_field", "This field is unknown; did you mean name?"),
        ("zzz", "unknown_field", "This field is unknown."),
    ]


def test_unknown_member_of_a_part_is_told_with_the_rest_of_it():
    _, told = faults({"name": "x", "parts": [{"level": "each"}, {"levle": "each"}]})
    assert told == [
        ("parts.1.level", "required", "This field is required."),
        ("parts.1.levle", "unknown_field", "This field is unknown; did you mean level?"),
    ]


def test_choices_of_lists_are_listed():
    _, told = faults({"name": "x", "days": ["mon", "wed"]})
    assert [(field, code) for field, code, _ in told] == [("days.1", "invalid_choice")]
    assert told[0][2].endswith("choose one of mon, tue.")


def test_known_member_that_is_there_is_not_proposed():
    _, told = faults({"name": "x", "display_nam": 1, "names": 1})
    assert [message for _, _, message in told] == [
        "This field is unknown; did you mean display_name?",
        "This field is unknown.",
    ]


def test_endless_names_are_refused_without_looking_for_their_like():
    _, told = faults({"name": "x", "n" * 1_000_000: 1})
    assert [(code, message) for _, code, message in told] == [("unknown_field", "This field is unknown.")]


@pytest.mark.parametrize(
    ("unit", "code"), [("EAA", "invalid_choice"), ("ZZZ", "invalid_choice"), ("pieces", "invalid_format")]
)
def test_base_unit_is_a_code_of_the_list(unit, code):
    with pytest.raises(InvalidFields) as refused:
        read(ProductCreateIn, body() | {"base_unit": unit})
    assert [(one.field, one.code) for one in refused.value.errors] == [("base_unit", code)]
    assert ("did you mean EA" in refused.value.errors[0].message) is (unit == "EAA")


@pytest.mark.parametrize("unit", ["EA", "MLT", "GRM", "KGM", "C62", "H87", "PR", "4K"])
def test_base_units_in_force_are_taken(unit):
    assert read(ProductCreateIn, body() | {"base_unit": unit})["base_unit"] == unit


def test_filter_of_choices_lists_them():
    answer = as_member(provision("supplier")).get("/v1/locations?type=wardd")
    (told,) = answer.json()["errors"]
    assert (answer.status_code, told["field"], told["code"]) == (400, "type", "invalid_choice")
    assert "ward, room, pharmacy" in told["message"]
