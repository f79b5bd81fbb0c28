"""Describe config.yaml to editors: its JSON Schema, with the lines that stand under the fields of the settings."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core.core_schema import ModelSchema, NullableSchema, WithDefaultSchema

from watcher.config.fields import plain
from watcher.config.settings import Settings


def described() -> dict[str, Any]:
    """Return the JSON Schema of the configuration."""
    sections = Settings.model_json_schema(schema_generator=_Schema)
    return {"$schema": GenerateJsonSchema.schema_dialect, **sections, "title": "watcher configuration"}


class _Schema(GenerateJsonSchema):
    """Describe what stands in the file: defaults as one would write them, and no nulls, which the file has not."""

    def encode_default(self, dft: Any) -> Any:
        return plain(dft)

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        field = super().default_schema(schema)
        return {key: value for key, value in field.items() if key != "default" or value}

    def nullable_schema(self, schema: NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def model_schema(self, schema: ModelSchema) -> JsonSchemaValue:
        section, model = super().model_schema(schema), schema["cls"]
        for name, text in _texts(model):
            section["properties"][model.model_fields[name].alias or name]["description"] = text
        return section


def _texts(model: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """Yield the name of each field with the text under it; pydantic would read them at each start of the program."""
    (body,) = ast.parse(inspect.getsource(model)).body
    for field, below in pairwise(body.body if isinstance(body, ast.ClassDef) else ()):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                if name in model.model_fields:
                    yield name, inspect.cleandoc(text)
