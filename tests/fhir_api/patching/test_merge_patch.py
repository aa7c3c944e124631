"""JSON merge patch: the table of RFC 7396's appendix, and its laws."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fhir_api.patching.merge_patch import apply_merge_patch

APPENDIX = [  # RFC 7396, appendix A: original, patch, result
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "b"}, ["c"], ["c"]),
    ({"a": "foo"}, None, None),
    ({"a": "foo"}, "bar", "bar"),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("original", "patch", "result"), APPENDIX)
def test_merge_patch_of_the_appendix(original, patch, result):
    before = copy.deepcopy(patch)
    assert apply_merge_patch(patch, copy.deepcopy(original)) == result
    assert patch == before


leaves = some.booleans() | some.integers(-9, 9) | some.text("ab", max_size=2)
documents = some.dictionaries(
    some.text("abc", max_size=2),
    some.recursive(
        leaves, lambda inner: some.dictionaries(some.text("abc", max_size=2), inner, max_size=3), max_leaves=6
    ),
    max_size=4,
)


def difference(one, other):
    """The merge patch that leads from one document without null to another."""
    patch = {name: None for name in one if name not in other}
    for name, value in other.items():
        if isinstance(value, dict) and isinstance(one.get(name), dict):
            patch[name] = difference(one[name], value)
        elif one.get(name) != value or type(one.get(name)) is not type(value):
            patch[name] = value
    return patch


@given(one=documents, other=documents)
def test_difference_leads_from_one_document_to_the_other(one, other):
    patch = difference(one, other)
    assert apply_merge_patch(patch, copy.deepcopy(one)) == other
    assert apply_merge_patch(patch, copy.deepcopy(other)) == other  # twice is once
