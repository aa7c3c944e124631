"""Rows of one tenant as Django writes them: each UPDATE and DELETE names the tenant in WHERE, and none sets it.

A PostgreSQL that is sharded by tenant finds the shard of a row by its tenant alone. Source: contract, organizations.md
"Rules of the tables".
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, models
from django.db.models.deletion import Collector
from django.db.models.expressions import Col
from django.db.models.sql.where import AND, WhereNode

from .row_security import security_of

M_co = TypeVar("M_co", bound=models.Model, covariant=True)


class TenantRowsQuerySet(models.QuerySet[M_co]):
    """Queries over rows of tenants; on the service's own connection, writes must be filtered by one tenant.

    Commands and pages of staff write by other connections, and may work over many tenants.
    """

    def update(self, **values: Any) -> int:
        """Update the rows of one tenant.

        :raises RuntimeError: no tenant is named, or the tenant is among the values; a programming error.
        """
        field = _tenant_field(self.model)
        if field.name in values or field.attname in values:
            raise RuntimeError(f"an UPDATE of {self.model._meta.label} sets the tenant")
        self._demand_tenant("UPDATE")
        return super().update(**values)

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete the rows of one tenant, and what refers to them in it.

        :raises RuntimeError: no tenant is named; a programming error.
        :raises TypeError: the rows are cut, combined, or values.
        """
        self._demand_tenant("DELETE")
        query = self.query
        if query.is_sliced or query.combinator or query.distinct_fields or self._fields is not None:  # type: ignore[attr-defined]
            raise TypeError("only whole rows, neither cut nor combined, can be deleted")
        doomed = self._chain()  # type: ignore[attr-defined]
        doomed._for_write = True
        doomed.query.select_for_update = False
        doomed.query.select_related = False
        doomed.query.clear_ordering(force=True)
        collector = _TenantCollector(using=doomed.db, origin=self)
        collector.collect(doomed)
        deleted = collector.delete()
        self._result_cache = None
        return deleted

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]  # as in Django: a manager has no `delete`

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], batch_size: int | None = None) -> int:
        """Update rows one by one in few statements, each for one tenant."""
        field, names = _tenant_field(self.model), [*fields]
        by_tenant: dict[Any, list[Any]] = defaultdict(list)
        for row in objs:
            by_tenant[getattr(row, field.attname)].append(row)
        narrowed = ((self.filter(**{field.attname: tenant}), rows) for tenant, rows in by_tenant.items())
        return sum(super(TenantRowsQuerySet, some).bulk_update(rows, names, batch_size) for some, rows in narrowed)

    def _demand_tenant(self, verb: str) -> None:
        if self.db == DEFAULT_DB_ALIAS and not self.query.is_empty() and not _names(self.query, self.model):
            raise RuntimeError(f"{verb} of {self.model._meta.label} names no tenant: filter the rows by one")


class TenantRow(models.Model):
    """Base of models whose rows belong to one tenant. It stands before `LifecycleModel`, whose questions it narrows, too.

    Personal data: none of its own.
    """

    if not TYPE_CHECKING:  # the type of the usual manager knows the model
        objects = TenantRowsQuerySet.as_manager()

    class Meta:
        abstract = True

    def _do_update(self, base_qs: Any, using: Any, pk_val: Any, values: Any, *rest: Any, **named: Any) -> Any:
        """Update the row of this tenant; the tenant itself is never set."""
        field = _tenant_field(type(self))
        base_qs = base_qs.filter(**{field.attname: getattr(self, field.attname)})
        values = [one for one in values if one[0] is not field]
        return super()._do_update(base_qs, using, pk_val, values, *rest, **named)

    def delete(self, using: Any = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        """Delete the row, and what refers to it in its tenant.

        :raises ValueError: the row has no key.
        """
        if self.pk is None:
            raise ValueError(f"{self._meta.object_name} without a key cannot be deleted")
        collector = _TenantCollector(using=using or self._state.db or DEFAULT_DB_ALIAS, origin=self)
        collector.collect([self], keep_parents=keep_parents)
        return collector.delete()


class _TenantCollector(Collector):
    """Django's collector, whose statements name the tenant of the rows."""

    def related_objects(self, related_model: Any, related_fields: Any, objs: Any) -> Any:
        """Find what refers to the rows in their own tenant."""
        found = super().related_objects(related_model, related_fields, objs)
        tenants = {_tenant_of(row) for row in objs}
        if security_of(related_model).tenant_column and len(tenants) == 1:
            found = found.filter(**{_tenant_field(related_model).attname: tenants.pop()})
        return found

    def delete(self) -> tuple[int, dict[str, int]]:
        """Delete by one statement for each model and tenant, in the order of their dependencies."""
        self.sort()
        for model in [model for model in self.data if security_of(model).tenant_column]:
            self.fast_deletes += self._by_tenant(model, [*self.data.pop(model)])
        return super().delete()

    def _by_tenant(self, model: type[models.Model], rows: Sequence[Any]) -> list[Any]:
        field = _tenant_field(model)
        by_tenant: dict[Any, list[Any]] = defaultdict(list)
        for row in rows:
            by_tenant[getattr(row, field.attname)].append(row.pk)
        base = model._base_manager.using(self.using)
        return [base.filter(**{field.attname: tenant, "pk__in": keys}) for tenant, keys in by_tenant.items()]


def _tenant_field(model: type[models.Model]) -> Any:
    column = security_of(model).tenant_column
    return next(field for field in model._meta.concrete_fields if field.column == column)


def _tenant_of(row: models.Model) -> Any:
    model = type(row)
    return getattr(row, _tenant_field(model).attname) if security_of(model).tenant_column else None


def _names(query: Any, model: type[models.Model]) -> bool:
    """Tell whether a query's conditions hold `tenant = value`."""
    field = _tenant_field(model)
    return any(
        one.lookup_name == "exact"
        and isinstance(one.lhs, Col)
        and (one.lhs.target.column, one.lhs.alias) == (field.column, model._meta.db_table)
        and not hasattr(one.rhs, "as_sql")
        for one in _lookups(query.where)
    )


def _lookups(where: WhereNode) -> Iterable[Any]:
    if where.negated or (where.connector != AND and len(where.children) > 1):
        return
    for child in where.children:
        if isinstance(child, WhereNode):
            yield from _lookups(child)
        elif hasattr(child, "lookup_name"):
            yield child
