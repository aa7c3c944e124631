"""Walks over a tree in the database, also over one that somebody broke by hand."""

from uuid import uuid4

import pytest
from django.db import connection

from core.trees import Tree, height, path
from organizations.models import Organization
from tests import factories

TREE = Tree("organizations_organization", most=5)


@pytest.fixture
def family():
    """A root with two children; the first has a child of its own."""
    root = factories.organization("Root")
    first, second = (factories.organization(name, parent=root) for name in ("First", "Second"))
    leaf = factories.organization("Leaf", parent=first)
    return [root.id, first.id, second.id, leaf.id]


def rows(piece, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {piece} found", parameters)
        return cursor.fetchall()


def test_path_leads_from_the_row_to_its_root(family):
    root, first, _, leaf = family

    assert path(TREE, leaf) == (leaf, first, root)
    assert path(TREE, root) == (root,)


def test_row_that_is_not_there_has_no_path_and_one_level():
    assert path(TREE, uuid4()) == ()
    assert height(TREE, uuid4()) == 1


def test_height_counts_the_levels_below(family):
    root, first, second, leaf = family

    assert [height(TREE, one) for one in (root, first, second, leaf)] == [3, 2, 1, 1]


def test_down_tells_the_steps_and_stops_at_the_wanted_one(family):
    root, first, second, leaf = family

    assert dict(rows(TREE.down("n.id = %s"), root)) == {root: 1, first: 2, second: 2, leaf: 3}
    assert dict(rows(TREE.down("n.parent_id = %s", most="1"), root)) == {first: 1, second: 1}


def test_within_holds_each_row_once_though_the_starts_overlap(family):
    root, first, second, leaf = family

    found = rows(TREE.within("n.id = ANY(%s)"), [root, first])

    assert sorted(found) == sorted([(root,), (first,), (second,), (leaf,)])


def test_within_tells_another_column_too(family):
    assert sorted(rows(TREE.within("n.id = %s", column="name"), family[1])) == [("First",), ("Leaf",)]


def test_scope_keeps_rows_out_wherever_they_stand(family):
    root, _first, second, leaf = family
    without = Tree("organizations_organization", most=5, scope="n.name <> 'First'")

    assert dict(rows(without.down("n.id = %s"), root)) == {root: 1, second: 2}
    assert path(without, leaf) == (leaf,)


def test_walks_end_in_a_circle(family):
    root, first, _, leaf = family
    Organization.objects.filter(pk=root).update(parent_id=leaf)

    assert path(TREE, leaf) == (leaf, first, root, leaf, first)
    assert height(TREE, leaf) == 5
    assert len(rows(TREE.within("n.id = %s"), leaf)) == 4
    Organization.objects.filter(pk=root).update(parent_id=None)
