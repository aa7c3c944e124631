"""Components of the document: parts that are written once and referred to by name."""

from typing import Any

from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent

Schema = dict[str, Any]


class NamedTwice(Exception):
    """Two different components have the same name; rename one."""


class Components:
    """drf-spectacular's registry, which also refuses one name for two different components."""

    def __init__(self, registry: ComponentRegistry) -> None:
        self._registry = registry

    def schema(self, name: str, content: Schema) -> Schema:
        """Register a schema and return the reference to it."""
        return self._put(ResolvedComponent.SCHEMA, name, content)

    def response(self, name: str, content: Schema) -> Schema:
        """Register a response and return the reference to it."""
        return self._put(ResolvedComponent.RESPONSE, name, content)

    def parameter(self, name: str, content: Schema) -> Schema:
        """Register a parameter and return the reference to it."""
        return self._put(ResolvedComponent.PARAMETER, name, content)

    def header(self, name: str, content: Schema) -> Schema:
        """Register a header and return the reference to it."""
        return self._put(ResolvedComponent.HEADER, name, content)

    def example(self, name: str, value: Any, summary: str = "") -> Schema:
        """Register an example and return the reference to it."""
        return self._put(ResolvedComponent.EXAMPLE, name, {**({"summary": summary} if summary else {}), "value": value})

    def lifted(self, schema: Any) -> Any:
        """Replace titled parts of a schema by components: a nested `{"title": "Address", …}` becomes a reference."""
        if isinstance(schema, list):
            return [self.lifted(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        found = {name: self.lifted(part) if name not in _LITERAL else part for name, part in schema.items()}
        title = found.get("title")
        if isinstance(title, str) and "type" in found:
            del found["title"]
            return self.schema(title, found)
        return found

    def replace_schema(self, name: str, content: Schema, *, built_from: Any) -> Schema:
        """Register a schema in place of an earlier one; `source_of` returns what it was `built_from`."""
        component = ResolvedComponent(name, ResolvedComponent.SCHEMA, schema=content, object=built_from)
        self._registry._components[component.key] = component
        return component.ref

    def replace_example(self, name: str, value: Any, summary: str) -> Schema:
        """Register an example in place of an earlier one."""
        content = {"summary": summary, "value": value}
        component = ResolvedComponent(name, ResolvedComponent.EXAMPLE, schema=content, object=name)
        self._registry._components[component.key] = component
        return component.ref

    def source_of(self, name: str) -> Any:
        """Return what a schema was built from; None for an unknown schema."""
        found = self._registry._components.get((name, ResolvedComponent.SCHEMA))
        return found.object if found is not None else None

    def _put(self, kind: str, name: str, content: Schema) -> Schema:
        component = ResolvedComponent(name, kind, schema=content, object=name)
        held = self._registry._components.setdefault(component.key, component)
        if held.schema != content:
            raise NamedTwice(f"{kind}/{name} is declared twice, differently: {held.schema} and {content}")
        return component.ref


_LITERAL = ("example", "examples", "default", "const", "enum", "x-extensible-enum")
