"""JSON Patch: the cases of RFC 6902's appendix, its rules, and documents that are built to hurt."""

import copy
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as some

from fhir_api.patching import PatchRefused
from fhir_api.patching.json_patch import apply_json_patch

APPENDIX = {  # RFC 6902, appendix A: document, operations, result
    "A.1": ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux"}], {"baz": "qux", "foo": "bar"}),
    "A.2": (
        {"foo": ["bar", "baz"]},
        [{"op": "add", "path": "/foo/1", "value": "qux"}],
        {"foo": ["bar", "qux", "baz"]},
    ),
    "A.3": ({"baz": "qux", "foo": "bar"}, [{"op": "remove", "path": "/baz"}], {"foo": "bar"}),
    "A.4": ({"foo": ["bar", "qux", "baz"]}, [{"op": "remove", "path": "/foo/1"}], {"foo": ["bar", "baz"]}),
    "A.5": (
        {"baz": "qux", "foo": "bar"},
        [{"op": "replace", "path": "/baz", "value": "boo"}],
        {"baz": "boo", "foo": "bar"},
    ),
    "A.6": (
        {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
        [{"op": "move", "from": "/foo/waldo", "path": "/qux/thud"}],
        {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
    ),
    "A.7": (
        {"foo": ["all", "grass", "cows", "eat"]},
        [{"op": "move", "from": "/foo/1", "path": "/foo/3"}],
        {"foo": ["all", "cows", "eat", "grass"]},
    ),
    "A.8": (
        {"baz": "qux", "foo": ["a", 2, "c"]},
        [{"op": "test", "path": "/baz", "value": "qux"}, {"op": "test", "path": "/foo/1", "value": 2}],
        {"baz": "qux", "foo": ["a", 2, "c"]},
    ),
    "A.10": (
        {"foo": "bar"},
        [{"op": "add", "path": "/child", "value": {"grandchild": {}}}],
        {"foo": "bar", "child": {"grandchild": {}}},
    ),
    "A.11": ({"foo": "bar"}, [{"op": "add", "path": "/baz", "value": "qux", "xyz": 123}], {"foo": "bar", "baz": "qux"}),
    "A.14": ({"/": 9, "~1": 10}, [{"op": "test", "path": "/~01", "value": 10}], {"/": 9, "~1": 10}),
    "A.16": ({"foo": ["bar"]}, [{"op": "add", "path": "/foo/-", "value": ["abc"]}], {"foo": ["bar", ["abc"]]}),
}
REFUSED = {  # operations on {"baz": "qux", "foo": [1, true]} and the code of the refusal
    "A.9 test of another value": ([{"op": "test", "path": "/baz", "value": "bar"}], "patch_test_failed"),
    "A.12 add below nothing": ([{"op": "add", "path": "/bat/a", "value": "qux"}], "patch_target_missing"),
    "A.15 text is no number": ([{"op": "test", "path": "/foo/0", "value": "1"}], "patch_test_failed"),
    "true is not 1": ([{"op": "test", "path": "/foo/1", "value": 1}], "patch_test_failed"),
    "1 is not true": ([{"op": "test", "path": "/foo", "value": [True, True]}], "patch_test_failed"),
    "test of nothing": ([{"op": "test", "path": "/none", "value": None}], "patch_target_missing"),
    "replace of nothing": ([{"op": "replace", "path": "/none", "value": 1}], "patch_target_missing"),
    "remove of nothing": ([{"op": "remove", "path": "/foo/2"}], "patch_target_missing"),
    "add past the end": ([{"op": "add", "path": "/foo/3", "value": 1}], "patch_target_missing"),
    "remove of the end": ([{"op": "remove", "path": "/foo/-"}], "patch_target_missing"),
    "member of a text": ([{"op": "add", "path": "/baz/a", "value": 1}], "patch_target_missing"),
    "leading zero": ([{"op": "remove", "path": "/foo/00"}], "invalid_patch_path"),
    "sign": ([{"op": "remove", "path": "/foo/-1"}], "invalid_patch_path"),
    "other digits": ([{"op": "remove", "path": "/foo/\u0661"}], "invalid_patch_path"),
    "name of a list": ([{"op": "add", "path": "/foo/bar", "value": 1}], "invalid_patch_path"),
    "no slash": ([{"op": "add", "path": "foo", "value": 1}], "invalid_patch_path"),
    "bad escape": ([{"op": "add", "path": "/a~2", "value": 1}], "invalid_patch_path"),
    "escape at the end": ([{"op": "add", "path": "/a~", "value": 1}], "invalid_patch_path"),
    "unknown operation": ([{"op": "spam", "path": "/baz"}], "invalid_patch"),
    "operation is no text": ([{"op": ["add"], "path": "/baz"}], "invalid_patch"),
    "no operation": ([{"path": "/baz"}], "invalid_patch"),
    "no path": ([{"op": "remove"}], "invalid_patch"),
    "path is no text": ([{"op": "remove", "path": 1}], "invalid_patch"),
    "no value": ([{"op": "add", "path": "/a"}], "invalid_patch"),
    "no source": ([{"op": "copy", "path": "/a"}], "invalid_patch"),
    "into itself": ([{"op": "move", "from": "/foo", "path": "/foo/0"}], "invalid_patch"),
    "not an object": (["add"], "invalid_patch"),
    "not a list": ({"op": "remove", "path": "/baz"}, "invalid_patch"),
    "after the root is gone": (
        [{"op": "remove", "path": ""}, {"op": "copy", "from": "", "path": ""}],
        "patch_target_missing",
    ),
}


@pytest.mark.parametrize("case", APPENDIX)
def test_json_patch_of_the_appendix(case):
    document, operations, result = APPENDIX[case]
    assert apply_json_patch(operations, copy.deepcopy(document)) == result


@pytest.mark.parametrize("case", REFUSED)
def test_json_patch_that_cannot_be_carried_out_is_refused(case):
    operations, code = REFUSED[case]
    with pytest.raises(PatchRefused) as refusal:
        apply_json_patch(operations, {"baz": "qux", "foo": [1, True]})
    assert refusal.value.code == code


def test_numbers_are_tested_by_value_and_keep_their_digits():
    document = {"value": Decimal("1.10")}
    operations = [
        {"op": "test", "path": "/value", "value": Decimal("1.1")},
        {"op": "copy", "from": "/value", "path": "/b"},
    ]
    assert str(apply_json_patch(operations, document)["b"]) == "1.10"


def test_copied_values_are_their_own():
    operations = [
        {"op": "add", "path": "/a", "value": {"x": []}},
        {"op": "copy", "from": "/a", "path": "/b"},
        {"op": "add", "path": "/b/x/-", "value": 1},
    ]
    before = copy.deepcopy(operations)
    assert apply_json_patch(operations, {}) == {"a": {"x": []}, "b": {"x": [1]}}
    assert operations == before


def test_root_is_replaced():
    assert apply_json_patch([{"op": "replace", "path": "", "value": {"a": 1}}], {"b": 2}) == {"a": 1}


HOSTILE = {
    "operations": [{"op": "test", "path": "", "value": 1}] * 10_001,
    "doubling": [{"op": "copy", "from": "", "path": f"/a{n}"} for n in range(40)],
    "doubling texts": [
        {"op": "add", "path": "/t", "value": ["x" * 200_000]},
        *({"op": "copy", "from": "", "path": f"/a{n}"} for n in range(40)),
    ],
    "depth by moving": [
        {"op": "add", "path": "/a", "value": {}},
        *({"op": "move", "from": "/a", "path": "/b"}, {"op": "add", "path": "/a", "value": {}}) * 2,
        *({"op": "copy", "from": "/b", "path": "/b" + "/c" * n} for n in range(1, 100)),
    ],
    "long lists": [
        {"op": "add", "path": "/a", "value": [0] * 300_000},
        *[{"op": "add", "path": "/a/0", "value": 0}] * 9_000,
    ],
    "long comparisons": [
        {"op": "add", "path": "/a", "value": [0] * 100_000},
        *[{"op": "test", "path": "/a", "value": [0] * 100_000}] * 5_000,
    ],
}


@pytest.mark.parametrize("case", HOSTILE)
def test_patch_that_costs_too_much_is_refused(case):
    with pytest.raises(PatchRefused) as refusal:
        apply_json_patch(HOSTILE[case], {"x": {"y": [1, 2, 3]}})
    assert refusal.value.code == "patch_too_costly"


def test_deep_path_is_missing():
    with pytest.raises(PatchRefused) as refusal:
        apply_json_patch([{"op": "add", "path": "/a" * 300_000, "value": 1}], {"a": {}})
    assert refusal.value.code == "patch_target_missing"


leaves = some.none() | some.booleans() | some.integers(-9, 9) | some.text("ab/~\u00e9", max_size=3)
documents = some.recursive(
    leaves,
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text("ab/~0", max_size=2), inner, max_size=4),
)


def places(value, pointer=""):
    """Every place of a document, as pointers."""
    yield pointer
    if isinstance(value, dict):
        for name, member in value.items():
            yield from places(member, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from places(member, f"{pointer}/{number}")


@given(document=documents, new=documents, data=some.data())
def test_each_place_can_be_read_replaced_and_taken_out(document, new, data):
    pointer = data.draw(some.sampled_from(list(places(document))))
    taken = apply_json_patch([{"op": "copy", "from": pointer, "path": ""}], copy.deepcopy(document))
    back = [
        {"op": "test", "path": pointer, "value": taken},
        {"op": "replace", "path": pointer, "value": new},
        {"op": "test", "path": pointer, "value": new},
        {"op": "remove", "path": pointer},
        {"op": "add", "path": pointer, "value": taken},
    ]
    assert apply_json_patch(back, copy.deepcopy(document)) == document


@given(document=documents, operations=documents)
def test_what_is_no_patch_is_refused_and_nothing_else_happens(document, operations):
    try:
        assert apply_json_patch(operations, copy.deepcopy(document)) == document  # an empty list
    except PatchRefused as refusal:
        assert refusal.code == "invalid_patch"
