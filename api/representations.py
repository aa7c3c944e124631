"""Answers, declared as DRF serializers and compiled to SQL once: PostgreSQL writes the JSON, without an object per row.

    class PackagingOut(Representation):
        class Meta:
            model = Packaging
            fields = ("id", "level", "name", "units_per_pack", "gtin")
            blank_as_null = ("name",)

    class ProductOut(Representation):
        packagings = PackagingOut(many=True, by="product", where=Q(state="current"), ordering=("position", "id"))
        storage = StorageOut(when=Q(storage_light_sensitive__isnull=False))
        udi = Document(UdiIn())
        stock = Computed(f"SELECT … WHERE s.tenant_id = {TENANT} AND s.product_id = t.id", StockTotals())

        class Meta:
            model = Product
            fields = ("id", "supplier_sku", "packagings", "storage", "udi", "stock", "created_at", "version")
            includes = ("stock",)

A plain name is a column of the model, which gives type, choices, length and null. In SQL, `t` is the row of the
representation that the SQL stands in, and `core.conditions.TENANT` the parameter by which a sub-select names the
tenant. A declaration that cannot be compiled is an error when its module is imported.
The same declaration gives `fields`, `include` and the component of the OpenAPI document. A test compares the JSON that
PostgreSQL writes with what DRF renders from the same row.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, NoReturn

from django.core.exceptions import FieldDoesNotExist, FieldError, ImproperlyConfigured
from django.db import connections, models
from django.db.models.expressions import RawSQL
from rest_framework import serializers

from core import clock
from core.conditions import TENANT
from core.db import BOUND_TENANT
from core.row_security import security_of

from .representation_sql import INSTANT, beside_sql, condition_sql, moved_to, or_null, order_sql, with_default
from .shapes import Field, Shape

AnyField = serializers.Field[Any, Any, Any, Any]


class Instant(serializers.DateTimeField):
    """A timestamptz column: RFC 3339, UTC, three decimals."""

    def to_representation(self, value: Any) -> Any:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        return clock.rfc3339(moment) if moment is not None else None


class OpenChoice(serializers.ChoiceField):
    """A text from a list that may grow. Source: contract, conventions "Enums"."""


class BlankAsNull(serializers.CharField):
    """A text column that is never null; the empty text is answered as null."""

    def to_representation(self, value: Any) -> Any:
        return value or None


class Document(serializers.JSONField):
    """A jsonb column, answered as it is; `form` is the field or serializer that describes it, None means any object."""

    def __init__(self, form: AnyField | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.form = form

    def to_representation(self, value: Any) -> Any:
        return value


class Computed(serializers.Field[Any, Any, Any, Any]):
    """A member that SQL computes over `t`; `form` is the field or serializer that describes its value."""

    def __init__(self, sql: str, form: AnyField, **options: Any) -> None:
        options.setdefault("help_text", form.help_text)
        options.setdefault("validators", list(form.validators))  # the document reads patterns from them
        options.setdefault("allow_null", form.allow_null)
        super().__init__(**options)
        self.sql, self.form = sql, form

    def get_attribute(self, instance: Any) -> Any:
        """The value, computed for this row alone: right wherever DRF renders a row, and a statement for each."""
        shape = type(self.parent).shape  # type: ignore[attr-defined]
        sql = f"SELECT to_json(({self.sql}))::text FROM {shape.table} t".replace("%", "%%")
        tenant = getattr(instance, shape.tenant_column or "", None)  # the model of a derived table may have none
        sql = sql.replace(TENANT, "%(tenant)s::uuid" if tenant else BOUND_TENANT)
        with connections[instance._state.db].cursor() as cursor:
            cursor.execute(
                f'{sql} WHERE t."{instance._meta.pk.column}" = %(key)s', {"key": instance.pk, "tenant": tenant}
            )
            (found,) = cursor.fetchone() or (None,)
        return None if found is None else json.loads(found)

    def to_representation(self, value: Any) -> Any:
        if isinstance(getattr(self.form, "child", self.form), Representation):
            return value  # SQL has written its members as the representation does
        return self.form.to_representation(value)


class Rows(serializers.ListSerializer[Any]):
    """`many=True`: the rows of another table whose foreign key `by` names this row."""

    def __init__(
        self, *, by: str = "", where: models.Q | str = "", ordering: Sequence[str] = (), **options: Any
    ) -> None:
        if by:
            options.setdefault("source", "*")
        super().__init__(**options)
        self.by, self.where, self.ordering = by, where, tuple(ordering)

    def to_representation(self, data: Any) -> Any:
        return super().to_representation(self._rows_of(data) if self.by else data)

    def _rows_of(self, parent: Any) -> Any:
        """Fetch the rows with the ORM, for DRF's own rendering."""
        model = self.child.Meta.model  # type: ignore[union-attr]
        rows = model._default_manager.using(parent._state.db).filter(**{self.by: parent.pk})
        if isinstance(self.where, models.Q):
            rows = rows.filter(self.where)
        elif self.where:
            where = self.where.replace(TENANT, 'parent."tenant_id"')
            sql = (
                f'SELECT t."{model._meta.pk.column}" FROM "{model._meta.db_table}" t, "{parent._meta.db_table}" parent'
                f' WHERE parent."{parent._meta.pk.column}" = %s AND ({where})'
            )
            rows = rows.filter(pk__in=RawSQL(sql, (parent.pk,)))  # noqa: S611  # nosec B611  # constants
        return rows.order_by(*self.ordering)


class Representation(serializers.ModelSerializer[Any]):
    """Base of every answer that is read from one table; see the module.

    `Meta` may name, beside DRF's `model`, `fields` and `extra_kwargs`: `includes`, members that only `include` brings;
    `revealed`, members that only the answer of a write holds (`core.results.Revealed`); `blank_as_null`, text columns
    whose empty text is null; `beside`, another table with at most one row for each of this one, and its column of this
    row's id: names that the model lacks are its columns, a missing row stands for its columns' `db_default`, and as
    `version` does not count its changes, they become part of the ETag; `name`, what a person calls it; `where`, what is
    visible at all (a Q, or SQL); `rows`, SQL that stands in place of the model's table (`api.unions`); `key`, the column of
    the path's id; `version`, the column behind the ETag, or None; `unversioned`, SQL over `t` for a text that changes with
    the answer where the version does not; `whose`, the column that names a row's patient, so that lists can be recorded without
    reading their answers; `tenant_column`; `example`, members of the example that read better than made ones.
    """

    serializer_field_mapping: ClassVar[Any] = {
        **serializers.ModelSerializer.serializer_field_mapping,
        models.DateTimeField: Instant,
        models.JSONField: Document,
    }
    serializer_choice_field = OpenChoice
    shape: ClassVar[Shape]

    def __init__(self, *args: Any, when: models.Q | None = None, **options: Any) -> None:
        if when is not None:
            options.setdefault("source", "*")
        super().__init__(*args, **options)
        self.when = when

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "Meta"):
            try:
                cls.shape = compiled(cls)
            except (AssertionError, FieldDoesNotExist, FieldError, ImproperlyConfigured) as error:
                raise ImproperlyConfigured(f"{cls.__name__}: {error}") from error

    @classmethod
    def many_init(cls, *args: Any, **options: Any) -> Any:
        """Make DRF's list with `by`, `where` and `ordering`, which becomes a sub-select."""
        own = {
            name: options.pop(name) for name in ("by", "where", "ordering", "help_text", "source") if name in options
        }
        return Rows(*args, child=cls(), **own, **options)

    def get_fields(self) -> dict[str, AnyField]:
        """Return DRF's fields, all read-only, and null where their column may be null."""
        found: dict[str, AnyField] = super().get_fields()
        blank = getattr(self.Meta, "blank_as_null", ())
        for name, field in found.items():
            if name in blank:
                field = found[name] = BlankAsNull(allow_null=True, help_text=field.help_text)  # noqa: PLW2901
            column = _model_field(self.Meta.model, field.source or name)
            field.read_only, field.required = True, False
            field.allow_null = (
                field.allow_null or getattr(field, "when", None) is not None or bool(column and column.null)
            )
        return found

    def build_field(self, field_name: str, info: Any, model_class: Any, nested_depth: int) -> Any:
        """Build the field of a column; the id of a foreign key (`tenant_id`) is a column like any other."""
        column = _model_field(model_class, field_name)
        if column is None:
            return self._build_beside(field_name) or self.build_unknown_field(field_name, model_class)
        if column.is_relation:
            kind, options = self.build_standard_field(field_name, column.target_field)
            return kind, {"help_text": options.get("help_text", ""), "allow_null": column.null}
        return self.build_standard_field(field_name, column)

    def _build_beside(self, name: str) -> Any:
        """A column of the table beside; None where that lacks it too."""
        found = _beside(self)
        column = _model_field(found[0], name) if found else None
        if found is None or column is None:
            return None
        kind, options = self.build_standard_field(name, column)
        form = kind(**options)
        form.allow_null = column.null
        value = beside_sql(self.Meta.model, *found, _written(form, f'h."{column.column}"'))
        return Computed, {"sql": with_default(value, column), "form": form}

    def to_representation(self, instance: Any) -> Any:
        """Render a row in Python, as the reference that the compiled SQL is tested against."""
        if self.when is not None and not _holds(self.when, instance):
            return None
        return super().to_representation(instance)


def _holds(condition: models.Q, instance: models.Model) -> bool:
    rows = type(instance)._default_manager.using(instance._state.db).filter(condition, pk=instance.pk)
    return bool(rows.exists())


def _model_field(model: type[models.Model], name: str) -> Any:
    """Return the model's field of this attribute (`tenant_id` for the foreign key `tenant`), or None."""
    return next((field for field in model._meta.concrete_fields if field.attname == name), None)


def _beside(form: Representation) -> tuple[type[models.Model], str] | None:
    found: tuple[type[models.Model], str] | None = getattr(form.Meta, "beside", None)
    return found


def _unversioned(form: Representation) -> str:
    """SQL for a text that changes with the members of the table beside, null where all have their defaults."""
    found = _beside(form)
    if found is None:
        return ""
    others = [name for name in form.Meta.fields if _model_field(form.Meta.model, name) is None]
    own = [column for name in others if (column := _model_field(found[0], name))]
    values = ", ".join(or_null(f'h."{column.column}"', column) for column in own)
    nothing = f"({',' * (len(own) - 1)})"
    return beside_sql(form.Meta.model, *found, f"left(md5(nullif(row({values})::text, '{nothing}')), 12)")


def compiled(kind: type[Representation]) -> Shape:
    """Compile a representation: the SQL of its members, its table, key and version.

    :raises ImproperlyConfigured: a member is neither a column nor declared.
    """
    meta: Any = kind.Meta
    includes: Sequence[str] = getattr(meta, "includes", ())
    form = kind()
    revealed: Sequence[str] = getattr(meta, "revealed", ())
    members = {
        name: Field(name, _expression(field, form, "t")) for name, field in form.fields.items() if name not in revealed
    }
    _check_names(meta, form.fields)
    where = getattr(meta, "where", "")
    return Shape(
        name=getattr(meta, "name", "") or _words(kind.__name__),
        model=meta.model,
        fields=tuple(member for name, member in members.items() if name not in includes),
        includes=tuple(members[name] for name in includes),
        tenant_column=getattr(meta, "tenant_column", security_of(meta.model).tenant_column),
        key=getattr(meta, "key", "id"),
        version=getattr(meta, "version", "version"),
        where=condition_sql(meta.model, where) if isinstance(where, models.Q) else where,
        rows=getattr(meta, "rows", ""),
        unpacked=getattr(meta, "unpacked", ""),
        whose=getattr(meta, "whose", ""),
        unversioned=getattr(meta, "unversioned", "") or _unversioned(form),
        representation=kind,
    )


def _check_names(meta: Any, members: Mapping[str, AnyField]) -> None:
    """Hold every name of `Meta` against the members, or against the columns of the table."""
    for option in ("includes", "revealed", "blank_as_null", "extra_kwargs", "example"):
        for name in getattr(meta, option, None) or ():
            if name not in members:
                _refuse(f"Meta.{option} names {name}, which is no member")
    columns = {field.column for field in meta.model._meta.concrete_fields}
    for option, usual in (("key", "id"), ("version", "version"), ("whose", "")):
        column = getattr(meta, option, usual)
        if column and column not in columns and not getattr(meta, "rows", ""):
            _refuse(f"Meta.{option}: {meta.model.__name__} has no column {column}")


def _words(name: str) -> str:
    bare = name.removesuffix("Out")
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in bare).strip()


def _expression(field: AnyField, owner: Representation, row: str) -> str:
    """Write the SQL of one member over the row's alias."""
    if isinstance(field, Computed):
        return f"({moved_to(field.sql, row)})"
    if isinstance(field, Rows):
        return f"({_rows(field, owner, row)})"
    if isinstance(field, Representation):
        return f"({_object(field, row)})"
    return _written(field, _column(owner, field, row))


def _written(field: AnyField, column: str) -> str:
    """The SQL that writes a column's value as the field does."""
    if isinstance(field, Instant):
        return INSTANT.format(column)
    if isinstance(field, serializers.DecimalField):
        return f"{column}::text"
    if isinstance(field, serializers.IPAddressField):
        return f"host({column})"
    return f"NULLIF({column}, '')" if isinstance(field, BlankAsNull) else column


def _column(owner: Representation, field: AnyField, row: str) -> str:
    found = _model_field(owner.Meta.model, str(field.source))
    if found is None:
        _refuse(f"{field.field_name}: {owner.Meta.model.__name__} has no column {field.source}")
    return f'{row}."{found.column}"'


def _refuse(text: str) -> NoReturn:
    raise ImproperlyConfigured(text)


def _object(form: Representation, row: str) -> str:
    """Write the SQL of an object made of the same row; null where its condition does not hold."""
    pairs = ", ".join(f"'{name}', {_expression(field, form, row)}" for name, field in form.fields.items())
    built = f"json_build_object({pairs})"
    if form.when is None:
        return built
    return f"CASE WHEN {condition_sql(form.Meta.model, form.when, row)} THEN {built} END"


def _rows(field: Rows, owner: Representation, row: str) -> str:
    """Write the SQL of a list of another table's rows, limited to the statement's tenant."""
    form: Representation = field.child  # type: ignore[assignment]
    model: type[models.Model] = form.Meta.model
    alias = f"{row}{len(row)}"
    key: Any = model._meta.get_field(field.by)
    parent: type[models.Model] = owner.Meta.model
    conditions = [f'{alias}."{key.column}" = {row}."{parent._meta.pk.column}"']
    tenant, outer = security_of(model).tenant_column, security_of(parent).tenant_column
    if tenant and outer:
        conditions.insert(0, f'{alias}."{tenant}" = {TENANT}')
    if isinstance(field.where, models.Q):
        conditions.append(condition_sql(model, field.where, alias))
    elif field.where:
        conditions.append(f"({moved_to(field.where, alias).replace('parent.', f'{row}.')})")
    members = ", ".join(f'{_expression(one, form, alias)} AS "{name}"' for name, one in form.fields.items())
    return (
        f"SELECT coalesce(json_agg({alias}), '[]') FROM (SELECT {members} FROM \"{model._meta.db_table}\" {alias}"
        f" WHERE {' AND '.join(conditions)}{order_sql(model, field.ordering, alias)}) {alias}"
    )


def shape_of(answer: Any) -> Shape | None:
    """Return the shape of an answer that is read from a table; None for any other."""
    return answer.shape if isinstance(answer, type) and issubclass(answer, Representation) else None
