"""Rows with a lifecycle: django-fsm with the platform's refusals, and a trigger that enforces the same transitions.

A transition is declared and called as in django-fsm's documentation, and raises the platform's own refusals:

    class Product(LifecycleModel):
        status = FSMField(default="draft", protected=True)

        @transition(field=status, source=["draft", "active"], target="archived", conditions=[refusing(InUse, is_unused)])
        def archive(self, at: datetime) -> None:
            self.archived_at = at

    product.archive(at)  # raises InvalidTransition (with `from`, `action`, `allowed`) or InUse; does not save
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, TypeVar, cast

from django.apps import apps
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django_fsm import ConcurrentTransitionMixin, FSMFieldMixin, TransitionNotAllowed
from django_fsm import transition as untyped_transition

from core.errors import InvalidTransition, PlatformError

Method = TypeVar("Method", bound=Callable[..., None])
Condition = Callable[[Any], bool]

_GUARD = """
CREATE OR REPLACE FUNCTION hp_guard_transition() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE was text := to_jsonb(OLD) ->> TG_ARGV[0]; becomes text := to_jsonb(NEW) ->> TG_ARGV[0];
BEGIN
  IF was IS DISTINCT FROM becomes AND NOT (was || '>' || becomes) = ANY (TG_ARGV[1:]) THEN
    RAISE EXCEPTION '% may not go from % to %', TG_TABLE_NAME, was, becomes USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$
"""


class LifecycleModel(ConcurrentTransitionMixin, models.Model):  # type: ignore[misc]  # the library has no types
    """Base of models with protected state fields.

    Personal data: none of its own.
    """

    class Meta:
        abstract = True

    @property
    def state_fields(self) -> tuple[Any, ...]:
        """The state fields of the model; the library looks through all fields each time."""
        return _state_fields(type(self))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._states_at_start = {field.attname: self.__dict__.get(field.attname) for field in self.state_fields}

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        """Read the row again.

        Meanwhile the library would switch the protection off on the class, and a second thread could leave it off for
        good. Here the old values are removed from the row instead, because the protection only covers values that are
        present.
        """
        held = {f.name: self.__dict__.pop(f.name) for f in self.state_fields if f.name in self.__dict__}
        try:
            models.Model.refresh_from_db(self, *args, **kwargs)
            self._update_initial_state()
        finally:
            for name, value in held.items():
                self.__dict__.setdefault(name, value)

    def clean_fields(self, exclude: Any = None) -> None:
        """Validate all fields except the states: validation assigns the cleaned values, and states are protected."""
        super().clean_fields(exclude=set(exclude or ()) | {field.name for field in self.state_fields})

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save; a new row must have been built in its initial state and changed from there by transitions.

        :raises TransitionNotAllowed: the row was built in another state.
        """
        if self._state.adding:
            self.check_initial_states()
        super().save(*args, **kwargs)

    def check_initial_states(self) -> None:
        """Check that a new row was built in its initial states.

        :raises TransitionNotAllowed: the row was built in another state.
        """
        for field in self.state_fields:
            if self._states_at_start[field.attname] != field.get_default():
                raise TransitionNotAllowed(f"{field.name} must start as {field.get_default()}", object=self)


@dataclass(frozen=True, slots=True)
class _Refusing:
    """A condition of a transition with its own refusal."""

    refusal: type[PlatformError]
    condition: Condition
    extra: dict[str, Callable[[Any], Any]]

    def __call__(self, row: Any) -> bool:
        return self.condition(row)

    def refuse(self, row: Any) -> PlatformError:
        return self.refusal(**{name: member(row) for name, member in self.extra.items()})


def refusing(refusal: type[PlatformError], condition: Condition, **extra: Callable[[Any], Any]) -> Condition:
    """Return a condition of a transition that raises its own refusal when it fails.

    `extra` names functions that compute members of the problem document from the row: `reasons=open_reasons`.
    """
    return _Refusing(refusal, condition, extra)


def transition(
    *, field: Any, source: str | Sequence[str], target: str | None, conditions: Sequence[Condition] = ()
) -> Callable[[Method], Method]:
    """Declare a method as the transition from the named source states to the target, as django-fsm does.

    The method does not save. Target None is an action that keeps the state and is allowed in these only. Conditions are checked in their order; the first that fails decides the refusal. Wildcard
    sources are refused, because the trigger in the database lists every transition.

    :raises InvalidTransition: from the method, when the row's state or a condition without its own refusal forbids it.
    """
    sources = [source] if isinstance(source, str) else list(source)
    mark = untyped_transition(field=field, source=sources, target=target, conditions=list(conditions))

    def decorate(method: Method) -> Method:
        change = mark(method)

        @wraps(change)
        def checked(row: LifecycleModel, *args: Any, **kwargs: Any) -> None:
            try:
                change(row, *args, **kwargs)
            except TransitionNotAllowed as error:
                raise _refusal(row, change) from error

        return cast("Method", checked)

    return decorate


def becoming(target: str, sources: Sequence[str], *, field: str = "status") -> Callable[..., None]:
    """Return the transition `become_<target>`, for models whose course is a table in which actions of several names lead to one state."""

    def become(row: Any) -> None:
        """Go to the state."""

    become.__name__ = become.__qualname__ = f"become_{target}"
    return transition(field=field, source=sources, target=target)(become)


def _refusal(row: LifecycleModel, change: Any) -> PlatformError:
    """Return the refusal of a failed transition: that of the first failing condition, else InvalidTransition."""
    field = change._django_fsm.field
    state = str(field.get_state(row))
    found = change._django_fsm.get_transition(state)
    unmet = next((one for one in found.conditions if not one(row)), None) if found else None
    if isinstance(unmet, _Refusing):
        return unmet.refuse(row)
    return InvalidTransition(state=state, action=_word(change.__name__), allowed=allowed_actions(row, field.name))


def allowed_actions(row: LifecycleModel, field: str = "status") -> list[str]:
    """Return the actions that the row's state allows, by the words of their paths (`check-in`), in alphabetical order."""
    available = getattr(row, f"get_available_{field}_transitions")()
    return sorted({_word(transition.name) for transition in available})


def _word(method: str) -> str:
    return method.replace("_", "-")


def build_guards(connection: BaseDatabaseWrapper) -> None:
    """Give every table with state fields a trigger that allows only its transitions, for raw SQL too."""
    present = set(connection.introspection.table_names())
    with connection.cursor() as cursor:
        cursor.execute(_GUARD)
        for model in apps.get_models():
            if issubclass(model, LifecycleModel) and not model._meta.proxy and model._meta.db_table in present:
                for statement in _guard_statements(model):
                    cursor.execute(statement)


def _guard_statements(model: type[LifecycleModel]) -> Iterator[str]:
    for field in _state_fields(model):
        pairs = sorted(_pairs(model, field))
        arguments = ", ".join(f"'{text}'" for text in [field.column, *pairs])
        yield (
            f'CREATE OR REPLACE TRIGGER hp_lifecycle_{field.column} BEFORE UPDATE OF "{field.column}" '
            f'ON "{model._meta.db_table}" FOR EACH ROW EXECUTE FUNCTION hp_guard_transition({arguments})'
        )


def _pairs(model: type[LifecycleModel], field: Any) -> Iterator[str]:
    for transition in field.get_all_transitions(model):
        if transition.source in ("*", "+"):
            raise ValueError(
                f"{model.__name__}.{transition.name}: name the source states; the trigger in the database lists them"
            )
        if transition.target is not None:
            yield f"{transition.source}>{transition.target}"


@cache
def _state_fields(model: type[models.Model]) -> tuple[Any, ...]:
    return tuple(field for field in model._meta.concrete_fields if isinstance(field, FSMFieldMixin))
