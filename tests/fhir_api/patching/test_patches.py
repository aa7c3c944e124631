"""What all kinds of patches hold to: nothing of the caller's changes, and what is the server's stays."""

import contextlib
import copy
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from api.body import parse
from fhir_api.patching import Kind, Patch, PatchRefused, apply_patch, kind_of
from fhir_api.resources import written

RAW = (
    b'{"resourceType":"Observation","id":"a","meta":{"versionId":"3","lastUpdated":"2026-01-01T00:00:00.000Z"},'
    b'"status":"final","code":{"text":"weight"},"valueQuantity":{"value":1.10,"unit":"kg"}}'
)
PROTECTED = ["resourceType", "id", "meta.versionId", "meta.lastUpdated"]


def resource():
    return parse(RAW)


def fhirpath(*operations):
    """A Parameters resource; each operation is its parts by name."""
    return {
        "resourceType": "Parameters",
        "parameter": [
            {"name": "operation", "part": [{"name": name, **value} for name, value in operation.items()]}
            for operation in operations
        ],
    }


def patches_of(path, value):
    """The same replacement in the three kinds."""
    inner = value
    for name in reversed(path.split(".")):
        inner = {name: inner}
    return [
        Patch(Kind.JSON, [{"op": "replace", "path": "/" + path.replace(".", "/"), "value": value}]),
        Patch(Kind.MERGE, inner),
        Patch(
            Kind.FHIRPATH,
            fhirpath(
                {
                    "type": {"valueCode": "replace"},
                    "path": {"valueString": f"Observation.{path}"},
                    "value": {"valueString": value},
                }
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("path", "kind"),  # resourceType is no element, so that no FHIRPath leads to it
    [(path, kind) for path in PROTECTED for kind in Kind if (path, kind) != ("resourceType", Kind.FHIRPATH)],
)
def test_patch_of_what_is_the_servers_is_refused(path, kind):
    (patch,) = [patch for patch in patches_of(path, "other") if patch.kind is kind]
    with pytest.raises(PatchRefused) as refusal:
        apply_patch(patch, resource())
    assert (refusal.value.code, refusal.value.extra["expression"]) == ("patch_protected_element", f"Observation.{path}")


def test_removal_of_what_is_the_servers_is_refused():
    for document in ([{"op": "remove", "path": "/meta"}], [{"op": "remove", "path": "/id"}]):
        with pytest.raises(PatchRefused, match="may not change"):
            apply_patch(Patch(Kind.JSON, document), resource())


def test_meta_without_what_is_the_servers_can_be_patched():
    tag = {"system": "http://example.org", "code": "x"}
    patched = apply_patch(Patch(Kind.MERGE, {"meta": {"tag": [tag]}}), resource())
    assert patched["meta"] == {**resource()["meta"], "tag": [tag]}


@pytest.mark.parametrize("patch", patches_of("status", "amended"), ids=lambda patch: patch.kind.name)
def test_patch_changes_its_place_alone_and_no_digit(patch):
    before, document = resource(), copy.deepcopy(patch.document)
    patched = apply_patch(patch, before)
    assert written(patched) == RAW.replace(b'"final"', b'"amended"')
    assert before == resource()
    assert patch.document == document


def test_decimals_of_a_patch_keep_their_digits():
    document = parse(b'[{"op":"replace","path":"/valueQuantity/value","value":2.500}]')
    patched = apply_patch(Patch(Kind.JSON, document), resource())
    assert str(patched["valueQuantity"]["value"]) == "2.500"
    assert isinstance(patched["valueQuantity"]["value"], Decimal)


@pytest.mark.parametrize(
    "patch", [Patch(Kind.JSON, [{"op": "replace", "path": "", "value": []}]), Patch(Kind.MERGE, [])]
)
def test_patched_resource_is_an_object(patch):
    with pytest.raises(PatchRefused) as refusal:
        apply_patch(patch, resource())
    assert refusal.value.code == "invalid_patch"


def test_kind_is_told_by_the_media_type():
    assert kind_of("application/json-patch+json") is Kind.JSON
    assert kind_of("application/merge-patch+json") is Kind.MERGE
    assert kind_of("application/fhir+json") is Kind.FHIRPATH
    assert kind_of("application/xml") is None


anything = some.recursive(
    some.none() | some.booleans() | some.integers(-3, 3) | some.sampled_from(["name", "value", "part", "Patient", "a"]),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.sampled_from(["op", "id", "part", "a"]), inner)
    ),
    max_leaves=8,
)


@given(kind=some.sampled_from(Kind), document=anything)
def test_patch_of_any_document_answers_or_refuses(kind, document):
    before, kept = resource(), copy.deepcopy(document)
    with contextlib.suppress(PatchRefused):
        assert isinstance(apply_patch(Patch(kind, document), before), dict)
    assert before == resource()
    assert document == kept
