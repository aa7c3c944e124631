"""A faster first migration: Django rebuilds its historical models for nearly every operation.

CPU time on an empty database: 16.4 s without `faster_migrations`, 8.4 s with it.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import Field, Model
from django_fsm import FSMFieldMixin


@contextmanager
def faster_migrations() -> Iterator[None]:
    """Build historical models without transitions, and collect garbage rarely, while migrations run."""
    contribute = FSMFieldMixin.contribute_to_class

    def contribute_plainly(
        field: Any, model: type[Model], name: str, private_only: bool = False, **others: Any
    ) -> None:
        if model.__module__ == "__fake__":  # else each such field would receive the signal of every later model class
            Field.contribute_to_class(field, model, name, private_only=private_only)
        else:
            contribute(field, model, name, private_only=private_only, **others)

    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    FSMFieldMixin.contribute_to_class = contribute_plainly
    try:
        yield
    finally:
        FSMFieldMixin.contribute_to_class = contribute
        gc.set_threshold(*thresholds)
        gc.unfreeze()
