"""Make blocks.schema.json anew from Slack's own types: `python -m tests.slack.make_schema`, with npm on the PATH.

The shapes are those of npm's @slack/types; the limits, which types cannot say, are those of Slack's reference:
https://docs.slack.dev/reference/block-kit. Run it where Slack changes either; tests only read the result.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

PATH = Path(__file__).with_name("blocks.schema.json")
_PACKAGES = ("@slack/types@3", "ts-json-schema-generator@2", "typescript@5")
_TEXT = {"minLength": 1, "maxLength": 3000}
_ID = {"maxLength": 255}
_LIMITS = {
    "ActionsBlock": {"elements": {"minItems": 1, "maxItems": 25}},
    "Button": {
        "action_id": _ID,
        "text": {"properties": {"text": {"maxLength": 75}}},
        "url": {"maxLength": 3000},
        "value": {"maxLength": 2000},
        "accessibility_label": {"maxLength": 75},
    },
    "ConfirmationDialog": {
        "title": {"properties": {"text": {"maxLength": 100}}},
        "text": {"properties": {"text": {"maxLength": 300}}},
        "confirm": {"properties": {"text": {"maxLength": 30}}},
        "deny": {"properties": {"text": {"maxLength": 30}}},
    },
    "ContextBlock": {"elements": {"minItems": 1, "maxItems": 10}},
    "HeaderBlock": {"text": {"properties": {"text": {"maxLength": 150}}}},
    "MarkdownBlock": {"text": {"maxLength": 12_000}},
    "MrkdwnElement": {"text": _TEXT},
    "PlainTextElement": {"text": _TEXT},
    "RichTextBlock": {"elements": {"minItems": 1}},
    "RichTextLink": {"text": {"minLength": 1}, "url": {"minLength": 1}},
    "RichTextText": {"text": {"minLength": 1}},
    "SectionBlock": {
        "fields": {"minItems": 1, "maxItems": 10, "items": {"properties": {"text": {"maxLength": 2000}}}},
    },
}
"""Definition → property → what its value must also fulfil."""


def main() -> None:
    """Write the schema."""
    with tempfile.TemporaryDirectory() as folder:
        made, version = _of_types(Path(folder))
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": f"Made by make_schema.py from @slack/types {version}, MIT, Copyright Slack Technologies, LLC",
        "type": "array",
        "minItems": 1,
        "maxItems": 50,
        "items": {"$ref": "#/definitions/KnownBlock"},
        "definitions": {name: _told_apart(_limited(name, _bare(node)), made) for name, node in made.items()},
    }
    PATH.write_text(json.dumps(schema, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def _of_types(folder: Path) -> tuple[dict, str]:
    """Return the definitions that the generator makes of Slack's types, and their version."""
    subprocess.run(["npm", "install", "--no-save", "--silent", *_PACKAGES], cwd=folder, check=True)
    types = folder / "node_modules/@slack/types"
    done = subprocess.run(
        [
            folder / "node_modules/.bin/ts-json-schema-generator",
            *("--path", types / "dist/index.d.ts", "--type", "KnownBlock", "--no-type-check"),
        ],
        cwd=folder,
        check=True,
        stdout=subprocess.PIPE,
    )
    return json.loads(done.stdout)["definitions"], json.loads((types / "package.json").read_text())["version"]


def _bare(node):
    """Return a schema without its prose; a property of that name stays."""
    if isinstance(node, list):
        return [_bare(it) for it in node]
    if not isinstance(node, dict):
        return node
    return {name: _bare(value) for name, value in node.items() if name != "description" or isinstance(value, dict)}


def _limited(name: str, node: dict) -> dict:
    """Return a definition with Slack's limits; a `$ref` hides what stands beside it, so they go around it."""
    limits = _LIMITS.get(name, {})
    if missing := limits.keys() - node.get("properties", {}).keys():
        sys.exit(f"{name} has no {missing}: Slack's types changed, so look at the limits again")
    properties = {
        key: {"allOf": [value, limits[key]]} if key in limits else value
        for key, value in node.get("properties", {}).items()
    }
    if "block_id" in properties:
        properties["block_id"] = {"allOf": [properties["block_id"], _ID]}
    some = {"anyOf": [{"required": ["text"]}, {"required": ["fields"]}]} if name == "SectionBlock" else {}
    return {**node, **({"properties": properties} if properties else {}), **some}


def _told_apart(node, made: dict):
    """Return a schema whose alternatives are chosen by their `type`: what is wrong with the one meant is then told."""
    if isinstance(node, list):
        return [_told_apart(it, made) for it in node]
    if not isinstance(node, dict):
        return node
    whole = {name: _told_apart(value, made) for name, value in node.items()}
    types = [_type(it.get("$ref", ""), made) for it in node.get("anyOf", ())]
    if not types or None in types or len(set(types)) < len(types):
        return whole
    chosen = [
        {"if": {"properties": {"type": {"const": name}}}, "then": it}
        for name, it in zip(types, whole.pop("anyOf"), strict=True)
    ]
    return {**whole, "required": ["type"], "properties": {"type": {"enum": types}}, "allOf": chosen}


def _type(reference: str, made: dict) -> str | None:
    """Return the `type` that a definition asks for, where it asks for one."""
    node = made.get(reference.rpartition("/")[2], {})
    names = {it.get("properties", {}).get("type", {}).get("const") for it in node.get("anyOf", (node,))}
    return names.pop() if len(names) == 1 else None


if __name__ == "__main__":
    main()
