"""Batches: many rows in one body. Each row is checked on its own and has its own result; the valid ones are written together.

    class CategoriesIn(BatchIn):
        items = BatchRows(child=CategoryIn())
        key = "code"

    "bulk": Operation("Write categories", body=CategoriesIn, run=write_categories, policy="bulk")

    def write_categories(actor, data, at):
        found = ...  # one statement for all of data["items"], each a Row with `index` and `data`
        return [Outcome(row.index, "created", id=found[row.data["code"]]) for row in data["items"]]

A row that fails is not written, and its result says why. With `atomic`, one failure refuses the whole batch.
Source: contract, conventions "Limits"; supply-shelf.md "Bulk".
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, TypeGuard

from rest_framework import serializers

from core.batches import FAILED, Outcome, Row
from core.errors import Duplicate, FieldError, InvalidFields, PlatformError

from .serializers import StrictSerializer, read
from .writing import Answer

MOST_ROWS = 500


class BatchRows(serializers.ListField):
    """The rows of a batch, unchecked: `BatchIn` validates each on its own with the serializer `child`."""

    def __init__(self, *, child: serializers.Serializer[Any], most: int = MOST_ROWS, **options: Any) -> None:
        super().__init__(child=child, min_length=1, max_length=most, **options)

    def run_child_validation(self, data: Any) -> Any:
        return data


class BatchIn(StrictSerializer):
    """Base of the body of a batch: a subclass names `items` and the member by which a row is known.

    `statuses` are the outcomes of a sound row; the answer counts each of them.
    """

    key: ClassVar[str]
    statuses: ClassVar[Sequence[str]] = ("created", "updated", "unchanged")
    items: BatchRows
    atomic = serializers.BooleanField(default=False, help_text="Any row that fails refuses the whole batch.")

    def has_partial_rows(self, data: Mapping[str, Any]) -> bool:
        """Tell whether rows may leave members out, as where a `mode` says so."""
        return False

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check each row by itself; `items` become the sound ones, `outcomes` tell of the others.

        :raises InvalidFields: a row is not sound, and the batch is atomic.
        """
        sent, partial = attrs["items"], self.has_partial_rows(attrs)
        kind = type(self.fields["items"].child)  # type: ignore[attr-defined]
        sound: list[Row] = []
        failed: list[Outcome] = []
        seen: dict[Any, int] = {}
        for index, raw in enumerate(sent):
            try:
                row = Row(index, read(kind, raw, partial=partial))
                _check_repeated(row, self.key, seen)
                sound.append(row)
            except PlatformError as error:
                failed.append(Outcome(index, error=error))
        if attrs["atomic"]:
            _refuse_whole(failed)
        keys = [_named(raw, self.key) for raw in sent]
        return {**attrs, "items": tuple(sound), "outcomes": tuple(failed), "keys": keys}

    @classmethod
    def answer(cls) -> type[serializers.Serializer[Any]]:
        """The form of the answer, for the document."""
        name = cls.__name__.removesuffix("In")
        result = type(
            f"{name}ResultOut",
            (serializers.Serializer,),
            {
                "index": serializers.IntegerField(help_text="Where the row stands in the request, from 0."),
                cls.key: serializers.CharField(allow_null=True),
                "status": serializers.ChoiceField(choices=(*cls.statuses, FAILED)),
                "id": serializers.UUIDField(required=False),
                "error": RowErrorOut(required=False),
            },
        )
        members: dict[str, Any] = {"results": serializers.ListField(child=result())}
        members |= {status: serializers.IntegerField() for status in (*cls.statuses, FAILED)}
        return type(f"{name}ResultsOut", (serializers.Serializer,), members)


class RowFaultOut(serializers.Serializer[Any]):
    """One fault of one field of a row."""

    field = serializers.CharField()
    pointer = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class RowErrorOut(serializers.Serializer[Any]):
    """Why a row failed."""

    code = serializers.CharField()
    title = serializers.CharField()
    errors = RowFaultOut(many=True)  # type: ignore[assignment]


def is_batch(body: Any) -> TypeGuard[type[BatchIn]]:
    """Tell whether an operation's body is a batch."""
    return isinstance(body, type) and issubclass(body, BatchIn)


def answered(batch: type[BatchIn], data: Mapping[str, Any], outcomes: Iterable[Outcome]) -> Answer:
    """The answer: a result for each row in the order of the request, and how many there are of each status.

    :raises InvalidFields: a row failed, and the batch is atomic; the caller's transaction is to be rolled back.
    """
    found = {one.index: one for one in (*data["outcomes"], *outcomes)}
    if found.keys() != set(range(len(data["keys"]))):
        raise RuntimeError(f"{batch.__name__}: its action told of {len(found)} of {len(data['keys'])} rows")
    told = [found[index] for index in sorted(found)]
    if data["atomic"]:
        _refuse_whole([one for one in told if one.error])
    counts = Counter(one.status for one in told)
    results = [_result(one, batch.key, data["keys"][one.index]) for one in told]
    return Answer.of({"results": results, **{status: counts[status] for status in (*batch.statuses, FAILED)}})


def _named(raw: Any, key: str) -> str | None:
    """The text by which a row is known; a row that has none, or something else there, has failed."""
    found = raw.get(key) if isinstance(raw, Mapping) else None
    return str(found) if isinstance(found, str | int | float) and not isinstance(found, bool) else None


def _check_repeated(row: Row, key: str, seen: dict[Any, int]) -> None:
    """Refuse the second row of a key: which of the two counts would be a guess of the database."""
    value = row.data.get(key)
    first = seen.setdefault(value, row.index)
    if first != row.index and value is not None:
        fault = FieldError(key, Duplicate.code, f"Row {first} names it too.")
        raise Duplicate(f"Row {first} of this batch has the same {key}.", errors=(fault,))


def _refuse_whole(failed: Sequence[Outcome]) -> None:
    if failed:
        raise InvalidFields("Rows failed, so nothing was written.", errors=[f for one in failed for f in _faults(one)])


def _faults(outcome: Outcome) -> list[FieldError]:
    """The faults of a row as the request's own: `items.3.code`."""
    error = outcome.error
    assert error is not None
    row = f"items.{outcome.index}"
    found = error.errors or (FieldError("", error.code, error.detail),)
    return [FieldError(f"{row}.{one.field}".rstrip("."), one.code, one.message) for one in found]


def _result(outcome: Outcome, key: str, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"index": outcome.index, key: value, "status": outcome.status}
    if outcome.id is not None:
        found["id"] = str(outcome.id)
    if outcome.error is not None:
        faults = [
            {"field": one.field, "pointer": one.pointer, "code": one.code, "message": one.message}
            for one in (_faults(outcome) if outcome.error.errors else ())
        ]
        found["error"] = {"code": outcome.error.code, "title": outcome.error.title, "errors": faults}
    return found
