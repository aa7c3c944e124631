"""The generated definitions are what the generator makes of R4's definitions, and numbers stay."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from fhir_api import keys
from fhir_api.definitions.parameters import BY_NUMBER, BY_TYPE, PARAMETERS, parameter
from fhir_api.generation import definitions, parameters
from fhir_api.generation.expressions import UnknownExpression, steps
from fhir_api.generation.structures import Structures
from fhir_api.resources.types import NUMBERS

from . import data

PARAMETER_FILES = ("r4-search-parameters.json.gz", "r4-more-search-parameters.json.gz")
DOCS = Path(__file__).parents[2] / "docs" / "fhir.md"


@pytest.fixture
def arguments():
    return data.definitions()


def test_committed_files_are_what_the_generator_writes(arguments):
    out = io.StringIO()

    call_command("generate_fhir_definitions", check=True, stdout=out, **arguments)

    assert out.getvalue().endswith(" files, 0 written.\n")


def test_check_names_what_differs(arguments, tmp_path, monkeypatch):
    monkeypatch.setattr(definitions, "DEFINITIONS", tmp_path)

    with pytest.raises(CommandError, match=r"parameters\.json"):
        call_command("generate_fhir_definitions", check=True, **arguments)

    assert list(tmp_path.iterdir()) == []


def test_generator_writes_the_same_bytes_again(arguments, tmp_path, monkeypatch):
    committed = {path.relative_to(definitions.DEFINITIONS): path.read_bytes() for path in _generated(arguments)}
    (tmp_path / "parameters.json").write_bytes(committed[Path("parameters.json")])
    monkeypatch.setattr(definitions, "DEFINITIONS", tmp_path)

    call_command("generate_fhir_definitions", stdout=io.StringIO(), **arguments)

    assert {path.relative_to(tmp_path): path.read_bytes() for path in _generated(arguments)} == committed


def _generated(arguments):
    return definitions.files(*(definitions.read(*arguments[name]) for name in arguments))


def test_parameters_that_are_not_offered_are_named_in_the_docs():
    """All parameters that R4 defines for the registered types and for every resource, against those that searches know."""
    official = [one for name in PARAMETER_FILES for one in data.read(name)]
    of_types = {(base, one["code"]) for one in official for base in one["base"] if base in NUMBERS}
    of_all = {one["code"] for one in official if {"Resource", "DomainResource"} & set(one["base"])}

    missing = {f"{base}.{code}" for base, code in of_types if parameter(base, code) is None}
    missing |= {code for code in of_all if not all(parameter(name, code) for name in NUMBERS)}

    assert missing == {"Patient.age", "Patient.birthOrderBoolean", "_content", "_filter", "_query", "_text"}
    section = DOCS.read_text().partition("### Parameters that are not offered")[2].partition("\n## ")[0]
    assert all(f"`{name.rpartition('.')[2]}`" in section for name in missing)
    assert all(f"`{name}`" in section for name in ("_list", "_contained", "_containedType"))


def test_number_stays_and_is_never_given_again(arguments):
    official = definitions.read(*arguments["search_parameters"])
    structures = Structures(definitions.read(*arguments["structure_definitions"]), [])
    before = parameters.rows(official, structures, [])
    last = before[-1]
    less = [one for one in official if one["code"] != last["code"]]
    renamed = {**official[0], "url": "http://example.org/new", "code": "brand-new"}

    without = parameters.rows(less, structures, before)
    after = parameters.rows([*less, renamed], structures, without)
    back = parameters.rows(official, structures, after)

    assert {**last, "retired": True} in without
    (new,) = [row for row in after if row["code"] == "brand-new"]
    assert new["number"] == last["number"] + 1
    assert {(row["type"], row["code"]): row["number"] for row in before}.items() <= {
        (row["type"], row["code"]): row["number"] for row in back
    }.items()


def test_every_type_has_its_own_numbers():
    assert len(BY_NUMBER) == len(PARAMETERS) == 641
    assert set(BY_TYPE) == set(NUMBERS)
    for name, of_type in BY_TYPE.items():
        assert {"_id", "_lastUpdated", "_profile", "_security", "_source", "_tag"} <= set(of_type), name
        assert all(one is PARAMETERS[name, code] and one.type == name for code, one in of_type.items())
    assert parameter("Observation", "no-such") is None


def test_patient_parameter_points_to_patients_only():
    assert parameter("Observation", "patient").targets == ("Patient",)
    assert parameter("Observation", "subject").targets == ("Device", "Group", "Location", "Patient")
    assert parameter("Observation", "focus").targets == ()


def test_composites_name_their_components():
    composites = {one.code: [part.code for part in one.components] for one in PARAMETERS.values() if one.components}

    assert composites == {
        "code-value-concept": ["code", "value-concept"],
        "code-value-date": ["code", "value-date"],
        "code-value-quantity": ["code", "value-quantity"],
        "code-value-string": ["code", "value-string"],
        "combo-code-value-concept": ["combo-code", "combo-value-concept"],
        "combo-code-value-quantity": ["combo-code", "combo-value-quantity"],
        "component-code-value-concept": ["component-code", "component-value-concept"],
        "component-code-value-quantity": ["component-code", "component-value-quantity"],
        "characteristic-value": ["characteristic", "value"],
        "relationship": ["relation", "relatesto"],
    }


def test_parameter_of_two_parts_looks_where_they_look():
    united = [one for one in PARAMETERS.values() if one.parts]

    assert [one.code for one in united if one.kind in ("quantity", "composite")] == [
        "combo-code-value-concept",
        "combo-code-value-quantity",
        "combo-value-quantity",
    ]
    assert len(united) == 6
    for one in united:
        assert set(one.expression.split(" | ")) == {side for part in one.parts for side in part.expression.split(" | ")}
        assert {part.kind for part in one.parts} == {one.kind}
        assert all(part.components[1:] == () or part.components[1].kind == one.components[1].kind for part in one.parts)


@pytest.mark.parametrize(
    "expression", ["Patient.name.first()", "Patient.name | ", "Patient.link.where(type='a' or 1)", "Patient..name", ""]
)
def test_expression_outside_of_the_known_part_is_refused(expression):
    with pytest.raises(UnknownExpression):
        steps(expression)


def test_keys_of_different_forms_never_meet():
    token = keys.token_keys(1, "a", "b")
    made = [
        *token,
        *keys.token_keys(2, "a", "b"),
        *keys.token_keys(1, None, "a"),
        *keys.identifier_keys(1, "a", "b"),
        keys.of_type_key(1, "a", "b", "c"),
        keys.composite_key(1, keys.code_form("a"), keys.code_form("b")),
        keys.uri_key(1, "a"),
        keys.exact_key(1, "a"),
        keys.date_key(1),
        keys.string_key(1),
        keys.text_key(1),
        *(keys.quantity_key(1, unit) for unit in keys.unit_forms("a", "b", "c")),
        *(keys.quantity_key(1, unit, keys.code_form("a")) for unit in keys.unit_forms("a", "b", "c")),
    ]

    assert len(set(made)) == len(made)
    assert all(-(2**63) <= one < 2**63 for one in made)
