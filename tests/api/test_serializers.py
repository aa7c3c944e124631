"""Strict bodies: known members are checked as in DRF, unknown members are refused."""

from decimal import Decimal

import pytest
from django.core.validators import MaxLengthValidator, RegexValidator
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from api.serializers import DecimalField, PrintedField, StrictSerializer, UnknownBodyField, read
from core.errors import InvalidFields
from suppliers.catalog.serializers import ProductCreateIn, ProductIn
from suppliers.catalog.states import Kind
from tests.suppliers.products import body, full_body

FIELDS = {
    "text": lambda **more: serializers.CharField(max_length=5, min_length=2, **more),
    "untrimmed": lambda **more: serializers.CharField(max_length=5, trim_whitespace=False, **more),
    "blank": lambda **more: serializers.CharField(allow_blank=True, **more),
    "pattern": lambda **more: serializers.CharField(validators=[RegexValidator("^a+$")], **more),
    "moving": lambda **more: serializers.CharField(validators=[MaxLengthValidator(lambda: 3)], **more),
    "whole": lambda **more: serializers.IntegerField(min_value=-1, max_value=10, **more),
    "choice": lambda **more: serializers.ChoiceField(choices=[*Kind.choices, (1, "one"), ("", "none")], **more),
    "choice_blank": lambda **more: serializers.ChoiceField(choices=["x"], allow_blank=True, **more),
    "flag": serializers.BooleanField,
    "amount": lambda **more: serializers.DecimalField(max_digits=3, decimal_places=1, **more),
    "list": lambda **more: serializers.ListField(child=serializers.IntegerField(), **more),
}
OPTIONS = (
    {},
    {"required": False},
    {"allow_null": True},
    {"required": False, "default": None, "allow_null": True},
    {"default": "abc"},
    {"default": list},
)
VALUES = (
    None, "", " ", "a", "aa", " aa ", "aaaaa", "aaaaaa", "a\0", "\ud800x", "\u00e9\u00e9", "\u2003aa", "\x1caa", "\xa0", "1", "1.0",
    "true", "medicine", "Kind.MEDICINE", "x", 0, 1, -1, -2, 10, 11, 10**30, True, False, 1.0, 1.5, Decimal("1.0"), Decimal("9.99"),
    [], [1], ["1"], {}, {"a": 1}, Kind.MEDICINE,
)  # fmt: skip


def outcome(kind, data, partial):
    form = kind(data=data, partial=partial)
    try:
        return form.run_validation(data)
    except serializers.ValidationError as error:
        return error.detail


def spelled(value):
    """A value with its types; error details with their codes."""
    if isinstance(value, dict):
        return {name: spelled(member) for name, member in value.items()}
    if isinstance(value, list):
        return [spelled(member) for member in value]
    code = getattr(value, "code", "")
    return type(value).__name__, code, "" if code == "invalid_choice" else value  # whose words list the choices


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", FIELDS)
def test_strict_serializer_answers_what_drf_answers(name, options):
    made = {"it": FIELDS[name](**options), "validate_it": lambda self, value: [value]}
    strict = type("Strict", (StrictSerializer,), dict(made))
    plain = type("Plain", (serializers.Serializer,), made | {"it": FIELDS[name](**options)})
    for partial in (False, True):
        for data in ({}, *({"it": value} for value in VALUES)):
            assert spelled(outcome(strict, data, partial)) == spelled(outcome(plain, data, partial)), data


@pytest.mark.parametrize("kind", [ProductIn, ProductCreateIn])
def test_whole_body_is_read_as_drf_reads_it(kind, monkeypatch):
    bodies = [body(), full_body(), body(packagings=[{}, 3]), body(name=3, udi={}, storage=[], attributes={"a": 1})]
    bodies += [{**full_body(), name: None} for name in full_body()]
    strict = [outcome(kind, data, False) for data in bodies]
    monkeypatch.setattr(StrictSerializer, "to_internal_value", serializers.Serializer.to_internal_value)

    assert spelled(strict) == spelled([outcome(kind, data, False) for data in bodies])


def test_unknown_members_are_named_and_a_body_that_is_no_object_is_refused():
    for data, path, code in (({**body(), "nmae": 1}, "nmae", "unknown_field"), ([], "", "invalid")):
        with pytest.raises(InvalidFields) as refused:
            read(ProductIn, data)
        assert [(fault.field, fault.code) for fault in refused.value.errors] == [(path, code)]


class PartIn(StrictSerializer):
    size = serializers.IntegerField()


class WholeIn(StrictSerializer):
    number = serializers.CharField(read_only=True)
    name = serializers.CharField()
    part = PartIn(required=False)
    parts = PartIn(many=True, required=False)


def faults(data):
    with pytest.raises(InvalidFields) as refused:
        read(WholeIn, data)
    return type(refused.value), [(fault.field, fault.code) for fault in refused.value.errors]


def test_unknown_members_alone_have_a_code_of_their_own():
    assert faults({"name": "a", "nmae": 1, "number": "7"}) == (
        UnknownBodyField,
        [("nmae", "unknown_field"), ("number", "unknown_field")],
    )


def test_unknown_members_are_reported_at_any_depth():
    data = {"part": {"size": 1, "seize": 2}, "parts": [{"size": 1}, {"colour": 1}]}

    assert faults(data) == (
        InvalidFields,
        [
            ("name", "required"),
            ("part.seize", "unknown_field"),
            ("parts.1.size", "required"),
            ("parts.1.colour", "unknown_field"),
        ],
    )


def test_at_most_twenty_unknown_members_are_reported():
    assert len(faults({"name": "a"} | {f"x{number}": 1 for number in range(1_000)})[1]) == 20


def test_nothing_of_a_body_stays_for_the_next_one():
    assert read(WholeIn, {"name": "a", "part": {"size": 1}}) == {"name": "a", "part": {"size": 1}}
    assert faults({"part": {"size": "x"}})[1] == [("name", "required"), ("part.size", "invalid")]
    assert read(WholeIn, {"name": "b"}) == {"name": "b"}


@pytest.mark.parametrize("text", ["A\x00B", "A\tB", "\u202eB", "A\u200b", "\ufffe", "A\u2028B"])
def test_printed_number_holds_only_what_can_be_seen(text):
    field = PrintedField(max_length=20)
    with pytest.raises(ValidationError) as refused:
        field.run_validation(text)
    assert {one.code for one in refused.value.detail} <= {"invalid", "null_characters_not_allowed"}
    assert field.run_validation("Lot Ä-1/2 é 批") == "Lot Ä-1/2 é 批"


@pytest.mark.parametrize("text", ["1_000", "1e5", "٩", "+1", ".5", "1.", "NaN", "Infinity", "0x1", "1,5", "", "1 0"])
def test_decimal_is_written_plainly(text):
    field = DecimalField(max_digits=12, decimal_places=2)
    with pytest.raises(ValidationError) as refused:
        field.run_validation(text)
    assert [one.code for one in refused.value.detail] == ["invalid"]
    assert [field.run_validation(one) for one in ("10.50", " 1 ", "-3", 2, 1.5)] == [
        Decimal("10.50"),
        Decimal(1),
        Decimal(-3),
        Decimal(2),
        Decimal("1.5"),
    ]
