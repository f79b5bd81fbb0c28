"""Describe the API in OpenAPI 3.1; the schema of the report is that of `watcher check --format json`."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import NullableSchema, WithDefaultSchema

from watcher.model import EventKind
from watcher.report.json import VERSION

Schema = Mapping[str, Any]
_PLACE = "#/components/schemas/"


@cache
def check_schema() -> Schema:
    """Return the JSON Schema of `watcher check --format json`."""
    held = files("watcher.pages") / "check.schema.json"
    schema: Schema = json.loads(held.read_text(encoding="utf-8"))
    return schema


def openapi(findings: type[BaseModel], events: type[BaseModel]) -> dict[str, Any]:
    """Return the description; `findings` and `events` say what may be asked of each."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "watcher",
            "version": str(VERSION),
            "description": "How everything stands, as the last looks left it. Fields are added, never renamed.",
        },
        "servers": [{"url": "."}],
        "security": [{}, {"bearer": []}, {"login": []}],
        "paths": {
            "/openapi.json": _get("This description.", {"type": "object"}),
            "/check.json": _get("The same as `watcher check --format json`.", _ref("check")),
            "/dependencies.json": _get("All dependencies, what needs a person first.", _ref("dependencies")),
            "/dependencies/{slug}.json": _get("One dependency, as it was last seen.", _ref("dependency"), part="slug"),
            "/findings.json": _get("Findings, by key.", _ref("findings"), query=findings),
            "/findings/{handle}.json": _get("One finding, and its life.", _ref("life"), part="handle"),
            "/events.json": _get("What happened, oldest first.", _ref("events"), query=events),
        },
        "components": {
            "schemas": {**_check(), **_OWN, **_named(findings), **_named(events)},
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`http: {token: …}`"},
                "login": {"type": "http", "scheme": "basic", "description": "The token as password, any name."},
            },
        },
    }


def _get(summary: str, schema: Schema, *, part: str = "", query: type[BaseModel] | None = None) -> dict[str, Any]:
    wrong = {"400": _said("What is asked for is not understood.", _ref("error"))} if query else {}
    missing = {"404": _said("There is none.", _ref("error"))} if part else {}
    parameters = [*([_part(part)] if part else []), *(_parameters(query) if query else [])]
    return {
        "get": {
            "summary": summary,
            "parameters": parameters,
            "responses": {"200": _said("As it stands.", schema), **wrong, **missing, **_REFUSED},
        }
    }


def _said(description: str, schema: Schema) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_REFUSED = {
    status: {"description": description, "content": {"text/plain": {"schema": {"type": "string"}}}}
    for status, description in (
        ("401", "The token is wanted."),
        ("403", "It is shown on loopback alone, or under another name."),
        ("503", "The database, or the token, cannot be read now."),
    )
}


def _part(name: str) -> dict[str, Any]:
    schema = {"type": "string", "pattern": "^[A-Za-z0-9_][A-Za-z0-9._-]{0,80}$"}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    described = _described(query)
    return [
        {"name": name, "in": "query", "description": schema.pop("description"), "schema": schema}
        for name, schema in described["properties"].items()
    ]


def _named(query: type[BaseModel]) -> Schema:
    """Return the schemas that those of a query's parameters name."""
    named: Schema = _described(query).get("$defs", {})
    return named


def _described(query: type[BaseModel]) -> dict[str, Any]:
    return query.model_json_schema(ref_template=_PLACE + "{model}", schema_generator=_OfText)


class _OfText(GenerateJsonSchema):
    """Describe what can be written after a question mark: there is no null."""

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        field = super().default_schema(schema)
        return {key: value for key, value in field.items() if key != "default" or value is not None}


# --- what is answered ------------------------------------------------------------------------------------------------


def _check() -> dict[str, Any]:
    """Return the report and its parts by name; before the first look there is no time of one."""
    schema = _placed(check_schema())
    whole = {key: it for key, it in schema.items() if key not in {"$schema", "$defs"}}
    return {**schema["$defs"], "check": whole | {"properties": whole["properties"] | {"at": _or_null(_ref("time"))}}}


def _placed(value: Any) -> Any:
    """Return a schema in which what is named is where OpenAPI has it."""
    match value:
        case dict():
            return {key: _placed(it) for key, it in value.items()}
        case list():
            return [_placed(it) for it in value]
        case str():
            return value.replace("#/$defs/", _PLACE) if value.startswith("#/$defs/") else value
        case _:
            return value


def _ref(name: str) -> Schema:
    return {"$ref": f"{_PLACE}{name}"}


def _list(name: str) -> Schema:
    return {"type": "array", "items": _ref(name)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _object(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


_SUMMARY = {
    "name": _ref("text"),
    "slug": _ref("text"),
    "upstreams": _ref("texts"),
    "variants": _ref("texts"),
    "severity": _or_null(_ref("Severity")),
    "seen": _or_null(_ref("time")),
    "unobserved": _list("unobserved"),
}
_OWN: Schema = {
    "error": _object(error=_ref("text")),
    "dependencies": _object(dependencies={"type": "array", "items": _object(**_SUMMARY)}),
    "dependency": _object(
        **_SUMMARY,
        pins=_list("pin"),
        fixes=_list("fix"),
        suggestions=_list("suggestion"),
        drift=_or_null(_ref("drift")),
        findings=_list("finding"),
    ),
    "findings": _object(findings=_list("finding")),
    "life": _object(finding=_ref("finding"), events=_list("event")),
    "events": _object(events=_list("event")),
    "event": _object(
        id=_ref("text"),
        at=_ref("time"),
        kind={"enum": [str(it) for it in EventKind]},
        baseline={"type": "boolean"},
        finding=_ref("finding"),
    ),
}
