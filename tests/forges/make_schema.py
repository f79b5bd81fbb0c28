"""Make github.schema.json anew from GitHub's own description: `python -m tests.forges.make_schema`, with npm on PATH.

The description is npm's @octokit/openapi. Of it stays what the operations below take and answer, with an example of
each answer; tests only read the result.
"""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

PATH = Path(__file__).with_name("github.schema.json")
_PACKAGE = "@octokit/openapi@23"
_REPO = "/repos/{owner}/{repo}"
_OPERATIONS = (
    ("get", "/user"),
    ("get", _REPO),
    ("get", f"{_REPO}/activity"),
    ("get", f"{_REPO}/branches/{{branch}}"),
    ("get", f"{_REPO}/rules/branches/{{branch}}"),
    ("get", f"{_REPO}/commits/{{commit_sha}}/pulls"),
    ("get", f"{_REPO}/git/ref/{{ref}}"),
    ("get", f"{_REPO}/git/matching-refs/{{ref}}"),
    ("get", f"{_REPO}/issues"),
    ("post", f"{_REPO}/issues"),
    ("get", f"{_REPO}/issues/{{issue_number}}"),
    ("patch", f"{_REPO}/issues/{{issue_number}}"),
    ("post", f"{_REPO}/issues/{{issue_number}}/comments"),
    ("get", f"{_REPO}/pulls"),
    ("post", f"{_REPO}/pulls"),
    ("get", f"{_REPO}/pulls/{{pull_number}}"),
    ("patch", f"{_REPO}/pulls/{{pull_number}}"),
)
_EXAMPLES = {
    "repository": f"GET {_REPO}",
    "pull": f"POST {_REPO}/pulls",
    "pull of a list": f"GET {_REPO}/pulls",
    "issue": f"POST {_REPO}/issues",
    "branch": f"GET {_REPO}/branches/{{branch}}",
    "ref": f"GET {_REPO}/git/ref/{{ref}}",
    "user": "GET /user",
    "comment": f"POST {_REPO}/issues/{{issue_number}}/comments",
}
"""The shape of an answer → the operation whose example it is."""
_DROPPED = {"description", "example", "examples", "title", "externalDocs", "deprecated", "xml", "readOnly"}


def main() -> None:
    """Write the schema."""
    with tempfile.TemporaryDirectory() as folder:
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, _PACKAGE]
        subprocess.run(install, check=True)
        package = Path(folder) / "node_modules/@octokit/openapi"
        whole = json.loads((package / "generated/api.github.com.json").read_text("utf-8"))
        version = json.loads((package / "package.json").read_text("utf-8"))["version"]
    operations = {f"{method.upper()} {path}": _operation(whole, method, path) for method, path in _OPERATIONS}
    examples = {name: _example(whole, operation) for name, operation in _EXAMPLES.items()}
    schemas: dict[str, Any] = {}
    _gather([(it["body"], it["answers"]) for it in operations.values()], whole, schemas)
    made = {
        "$comment": f"Made by make_schema.py from @octokit/openapi {version}, MIT, Copyright GitHub and Octokit",
        "operations": operations,
        "examples": examples,
        "components": {"schemas": schemas},
    }
    PATH.write_text(json.dumps(made, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


def _operation(whole: dict[str, Any], method: str, path: str) -> dict[str, Any]:
    described = whole["paths"][path][method]
    parameters = [_resolved(it, whole) for it in described.get("parameters", ())]
    answers = {status: _resolved(it, whole) for status, it in described["responses"].items()}
    taken = described.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return {
        "query": {it["name"]: _plain(it["schema"]) for it in parameters if it["in"] == "query"},
        "body": taken and _plain(taken) | {"additionalProperties": False},
        "answers": {status: _schema(it) for status, it in answers.items()},
    }


def _schema(answer: dict[str, Any]) -> Any:
    return _plain(answer.get("content", {}).get("application/json", {}).get("schema", True))


def _example(whole: dict[str, Any], operation: str) -> Any:
    method, _, path = operation.partition(" ")
    answers = whole["paths"][path][method.lower()]["responses"]
    good = _resolved(answers.get("200") or answers["201"], whole)
    example = next(iter(good["content"]["application/json"]["examples"].values()))
    value = _resolved(example, whole)["value"]
    return value[0] if isinstance(value, list) else value


def _resolved(node: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    found = whole
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return _resolved(found, whole)


def _plain(node: Any) -> Any:
    """Return a schema without its prose, and in the words of JSON Schema, which has no `nullable`."""
    if isinstance(node, list):
        return [_plain(it) for it in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _plain(it) for name, it in value.items()} if key == "properties" else _plain(value)
        for key, value in node.items()
        if key not in _DROPPED and not key.startswith("x-") and key != "nullable"
    }
    return {"anyOf": [{"type": "null"}, kept]} if node.get("nullable") else kept


def _gather(node: Any, whole: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Add whatever a node refers to."""
    match node:
        case {"$ref": str(place)} if (name := place.removeprefix("#/components/schemas/")) not in schemas:
            schemas[name] = _plain(whole["components"]["schemas"][name])
            _gather(schemas[name], whole, schemas)
        case dict():
            for value in node.values():
                _gather(value, whole, schemas)
        case list() | tuple():
            for value in node:
                _gather(value, whole, schemas)


if __name__ == "__main__":
    main()
