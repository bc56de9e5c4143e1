from pathlib import Path
from typing import Any

import pytest

from planner_executor.graph.errors import InputError
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.playbooks.folder import found_in
from planner_executor.graph.playbooks.playbook import LARGEST, SECRET, Playbook, face_of

TO = {"type": "object", "properties": {"to": {"type": "string"}}}
MAIL = ToolSpec(name="mail", description="", effect="external", schema=TO)
TEXT = """\
# A greeting.
name: greet
version: 2
description: Greet {param.who}
parameters:
  who: {type: string, minLength: 2, title: Whom to greet}
  times: {type: integer, default: 1, examples: [3]}
steps:
  - id: mail
    objective: Greet
    tool: mail
    args: {to: '{param.who}'}
answer: '{mail_result}, {param.times} times'
"""


def raw(**changed: Any) -> dict[str, Any]:
    steps = [{"id": "mail", "objective": "Greet", "tool": "mail", "args": {"to": "{param.who}"}}]
    return {"name": "greet", "version": 1, "parameters": {"who": {"type": "string"}}, "steps": steps, **changed}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "greet.yaml"
    path.write_text(TEXT)
    return path


def test_a_file_is_read_and_its_digest_is_that_of_its_content(file: Path) -> None:
    found = Playbook.load(file)
    file.write_text(TEXT.replace("# A greeting.", "# Another comment.").replace("{type: string,", "{'type': 'string',"))

    assert (found.name, found.version, list(found.parameters)) == ("greet", 2, ["who", "times"])
    assert Playbook.load(file).digest == found.digest
    assert Playbook.of(found.to_json()).digest == found.digest
    file.write_text(TEXT.replace("Greet\n", "Greet them\n"))
    assert Playbook.load(file).digest != found.digest


def test_a_file_that_is_too_large_is_refused(file: Path) -> None:
    file.write_text(TEXT + "#" * LARGEST)

    with pytest.raises(InputError, match="more than 2000000 bytes"):
        Playbook.load(file)


@pytest.mark.parametrize("text", ["a: &x 1\nb: *x", "a: !!python/object:os.system x", "a: 1\na: 2", "{", "1: a"])
def test_what_json_has_not_is_refused_with_its_line(file: Path, text: str) -> None:
    file.write_text(text)

    with pytest.raises(InputError, match="line "):
        Playbook.load(file)


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"name": "Greet Ann"}, "name must be a word"),
        ({"version": "1"}, "version must be a whole number"),
        ({"steps": []}, "steps must be a list"),
        ({"when": 1}, "unknown key 'when'"),
        ({"limits": {"tool_calls": -1, "hours": 1}}, "limits.hours is not a limit"),
        ({"parameters": {"who": {"type": "text"}}}, "parameters.who is not a usable JSON Schema"),
        ({"parameters": {"a-b": {}}}, "parameters.a-b is no name"),
        ({"parameters": {"who": {"type": "string", "default": 1}}}, "does not fit"),
        ({"parameters": {"key": {"type": "string", "secret": True}}}, SECRET),
        ({"parameters": {"key": {"format": "password"}}}, SECRET),
        ({"parameters": {"who": {}, "whom": {}}}, "parameters.whom is used nowhere; write {param.whom}"),
        ({"parameters": {"who": {"$ref": "https://x.example/schema.json"}}}, "is not in it"),
        ({"tools": {"mail": {"schema": "any"}}}, "tools.mail.schema must be a JSON Schema"),
        ({"tools": {"mail": {"schema": {"properties": ["to"]}}}}, "tools.mail.schema must be a JSON Schema"),
        ({"tools": {"mail": {"schema": None}}}, "tools.mail.schema must be a JSON Schema"),
    ],
)
def test_what_is_no_playbook_is_refused(changed: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError) as refused:
        Playbook.of(raw(**changed))

    assert fault in str(refused.value)


def test_a_plan_carries_values_and_their_labels(file: Path) -> None:
    found = Playbook.load(file)

    plan = found.plan({"who": "ann"}, "untrusted")

    assert plan["params"] == {"who": {"value": "ann", "label": "untrusted"}, "times": {"value": 1, "label": "user"}}
    assert plan["steps"][0]["args"] == {"to": "{param.who}"}
    assert found.goal({"who": "ann"}) == "Greet ann"


def test_values_that_do_not_fit_are_named_together(file: Path) -> None:
    with pytest.raises(InputError) as refused:
        Playbook.load(file).plan({"times": "often", "whom": 1})

    assert str(refused.value) == (
        "params: greet: no parameter 'whom'; there are who, times; who is missing: Whom to greet; "
        "times: 'often' is not of type 'integer'"
    )


@pytest.mark.parametrize("value", ["{mail_result}", "{param.times}", "{{x_result}}", "\u202eann"])
def test_a_value_is_taken_as_it_is(file: Path, value: str) -> None:
    assert Playbook.load(file).issues({"mail": MAIL}, {"who": value}) == []


def test_a_value_of_two_megabytes_is_refused(file: Path) -> None:
    for given in ({"who": "x" * 2_000_000}, {"who": ["x"] * 600_000}, {"who": "ann", "w" * 2_000_000: 1}):
        with pytest.raises(InputError, match=r"longer than|no parameter") as refused:
            Playbook.load(file).plan(given)
        assert len(str(refused.value)) < 300


@pytest.mark.parametrize("written", ["{ param.who}", "{params.who}", "{param\u2024who}", "\uff5bparam.who\uff5d"])
def test_a_look_alike_of_the_only_parameter_is_named(written: str) -> None:
    step = {"id": "mail", "objective": "Greet", "tool": "mail", "args": {"to": written}}

    with pytest.raises(InputError, match="who is used nowhere"):
        Playbook.of(raw(steps=[step]))


def test_a_look_alike_within_a_name_is_an_issue() -> None:
    for written in ("{param.wh\u043e}", "{param.who\u200b}"):
        step = {"id": "mail", "objective": "Greet {param.who}", "tool": "mail", "args": {"to": written}}
        assert len(Playbook.of(raw(steps=[step])).issues({"mail": MAIL}, {"who": "ann"})) == 1


def test_a_playbook_is_checked_with_its_examples() -> None:
    assert Playbook.of(raw()).example() is None
    found = Playbook.of(raw(parameters={"who": {"type": "integer", "examples": [7]}}))
    assert found.example() == {"who": 7}
    assert found.issues({"mail": MAIL}, {"who": 7}) == ["mail.args.to: 7 is not of type 'string'"]


def test_what_changed_about_its_tools_is_named() -> None:
    found = Playbook.of(raw(tools={"mail": face_of(MAIL)}))
    other = ToolSpec(name="mail", description="", effect="read", trusted=True, schema={"properties": {"cc": {}}})

    assert found.changes({"mail": MAIL}) == []
    assert found.changes({}) == ["mail is missing"]
    assert found.changes({"mail": other}) == [
        "mail had the effect external, and has read",
        "mail had the trust undeclared, and has trusted",
        "mail takes other arguments: to, cc",
    ]


@pytest.mark.parametrize(
    ("path", "why"),
    [(5, "give text or a Path, got int"), ("a\0b", "NUL character"), (".", "Is a directory; name a file")],
)
def test_what_names_no_file_is_no_playbook(path: Any, why: str) -> None:
    with pytest.raises(InputError, match=f"playbook: .*{why}"):
        Playbook.load(path)


@pytest.mark.parametrize("params", [5, ["who"], {5: "Ann"}], ids=str)
def test_values_of_parameters_are_a_dict_by_name(params: Any) -> None:
    with pytest.raises(InputError, match=r"params: greet: give a dict whose keys are texts, got"):
        Playbook.of(raw()).plan(params)


def test_a_folder_of_playbooks_whose_name_is_too_long_is_refused() -> None:
    with pytest.raises(InputError, match=r"playbooks: .*too long; name another one in the settings"):
        found_in(Path("a" * 300))
