"""A faster first migration: Django builds its historical models anew for nearly every operation.

Nearly every model refers to the tenant, so Django takes all of them for related, and an index more on one table builds the
classes of three hundred tables again. Here the changed model alone is built again where no other can depend on what changed.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db.migrations.state import ProjectState
from django.db.models import Field, Model
from django_fsm import FSMFieldMixin

_NARROWED = ("add_model", "add_field", "remove_field")


@contextmanager
def faster_migrations() -> Iterator[None]:
    """Build few historical models anew, and those without transitions, and collect garbage rarely, while migrations run."""
    thresholds = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
    try:
        with _plain_fields(), _few_models():
            yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()


@contextmanager
def _plain_fields() -> Iterator[None]:
    """Let state fields of historical models be plain: else each would receive the signal of every later model class."""
    contribute = FSMFieldMixin.contribute_to_class

    def contribute_plainly(
        field: Any, model: type[Model], name: str, private_only: bool = False, **others: Any
    ) -> None:
        if model.__module__ == "__fake__":
            Field.contribute_to_class(field, model, name, private_only=private_only)
        else:
            contribute(field, model, name, private_only=private_only, **others)

    FSMFieldMixin.contribute_to_class = contribute_plainly
    try:
        yield
    finally:
        FSMFieldMixin.contribute_to_class = contribute


@contextmanager
def _few_models() -> Iterator[None]:
    """Build the changed model alone anew, where Django builds those that refer to it and what these refer to as well.

    Nobody refers to a new model, and who refers to a changed one means its table and its key: these change with a renamed model
    and an altered field that is referred to, which are left to Django. Code that a migration runs is given all models anew, as
    Django does where it has `delayed` some.
    """
    states: Any = ProjectState  # what is replaced is private to Django
    find: Callable[..., set[tuple[str, str]]] = states._find_reload_model
    methods = {name: getattr(states, name) for name in _NARROWED}
    inside: list[str] = []

    def find_few(state: Any, app_label: str, model_name: str, delay: bool = False) -> set[tuple[str, str]]:
        if not delay and not inside:
            return find(state, app_label, model_name, delay)
        state.is_delayed = True
        return {(app_label, model_name)}

    def narrowed(name: str) -> Callable[..., None]:
        def method(*given: Any, **more: Any) -> None:
            inside.append(name)
            try:
                methods[name](*given, **more)
            finally:
                inside.pop()

        return method

    states._find_reload_model = find_few
    for name in _NARROWED:
        setattr(states, name, narrowed(name))
    try:
        yield
    finally:
        states._find_reload_model = find
        for name, method in methods.items():
            setattr(states, name, method)
