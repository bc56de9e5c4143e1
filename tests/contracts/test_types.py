"""`schemas/planner-executor.d.ts`, the types of TypeScript that are made from the published schemas."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "schemas"
TYPES = FOLDER / "planner-executor.d.ts"
BANNER = "// Made of the schemas beside it by `make snapshots`; the SHA-256 of what it was made of is\n// {digest}"
LEFT_OUT = ("title", "default", "minItems")


def joined() -> str:
    """Return one schema that names each published one, under the name of its file."""
    types: dict[str, Any] = {}
    roots = {}
    for file in sorted(FOLDER.glob("*.json")):
        schema = json.loads(file.read_text())
        del schema["$schema"]
        for name, found in {**schema.pop("$defs"), (title := schema["title"]): schema}.items():
            assert types.setdefault(name, plain(found)) == plain(found), f"{name} of {file.name} is another type before"
        roots[file.stem] = {"$ref": f"#/$defs/{title}"}
    described = "What clients are sent and send, by the name of its schema."
    whole = {"title": "Published", "description": described, "type": "object", "additionalProperties": False}
    return json.dumps({**whole, "required": [*roots], "properties": roots, "$defs": types}, indent=1)


def plain(schema: Any) -> Any:
    """Return a schema without what would make types of its own, or tuples that no list fits."""
    if isinstance(schema, list):
        return [plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    fields = {name: plain(one) for name, one in schema.get("properties", {}).items()}
    rest = {key: plain(one) for key, one in schema.items() if key not in (*LEFT_OUT, "properties")}
    return rest | ({"properties": fields} if fields else {})


def banner() -> str:
    return BANNER.format(digest=sha256(joined().encode()).hexdigest())


def test_the_types_are_those_that_the_generator_makes(node_package: Callable[[str], Path], tmp_path: Path) -> None:
    script = node_package("json-schema-to-typescript") / "dist" / "src" / "cli.js"
    (tmp_path / "joined.json").write_text(joined())

    made = subprocess.run(
        [
            "node",
            str(script),
            "--bannerComment",
            banner(),
            "--maxItems",
            "-1",
            "--style.printWidth",
            "120",
            "joined.json",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert made.returncode == 0, made.stderr
    if os.environ.get("RENEW_SNAPSHOTS"):
        TYPES.write_text(made.stdout)
    assert TYPES.read_text() == made.stdout, f"{TYPES} differs; `make snapshots` writes it anew"
    named = re.findall(r"^export (?:type|interface) (\w+)", made.stdout, re.MULTILINE)
    assert sorted(named) == sorted([*json.loads(joined())["$defs"], "Published"])


def test_the_types_were_made_of_the_present_schemas() -> None:
    assert TYPES.read_text().startswith(f"{banner()}\n"), f"{TYPES} is older; `make snapshots` writes it anew"
