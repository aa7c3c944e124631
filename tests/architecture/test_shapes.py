"""Every output shape holds against its model: its SQL runs, its columns exist."""

import gc

import pytest
from django.db import connections

from api.listing import Listing
from api.shapes import Selection, Shape
from config import urls  # noqa: F401  (imports every view, and with them every shape)

SHAPES = sorted((found for found in gc.get_objects() if isinstance(found, Shape)), key=lambda shape: shape.name)
LISTINGS = sorted(
    (found for found in gc.get_objects() if isinstance(found, Listing)), key=lambda listing: listing.shape.name
)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_shape_selects_from_its_table(shape):
    everything = Selection(None, tuple(member.name for member in shape.includes))
    where = f"WHERE {shape.where}" if shape.where else ""
    with connections["platform"].cursor() as cursor:
        cursor.execute(f"SELECT {shape.select(everything)} FROM {shape.table} t {where} LIMIT 0".replace("%", "%%"), [])
        names = [column.name for column in cursor.description]
    assert names == [member.name for member in (*shape.fields, *shape.includes)]


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.shape.name)
def test_sort_keys_are_never_null_columns(listing):
    columns = {field.column: field for field in listing.shape.model._meta.concrete_fields}
    for key in listing.sorts.values():
        assert key.column not in columns or not columns[key.column].null  # a derived table has columns of its own
    assert listing.default_sort.removeprefix("-") in listing.sorts
    assert {"created_at", "updated_at"} <= set(listing.sorts) or listing.shape.name in {"event", "webhook delivery"}
