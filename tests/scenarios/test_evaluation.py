"""Whole evaluations on scripted models: three arms, the same tools, checks, budget, resumption."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from xml.etree import ElementTree
from xml.etree.ElementTree import fromstring

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from planner_executor import Agent, NothingHappened, Playbook, default_tools, tool
from planner_executor.graph.chat_models.offline.rules import answer_to
from planner_executor.graph.chat_models.roles import RoleModels, role_models
from planner_executor.graph.errors import ConfigError, ResultsError, SuiteError, ToolConfigError
from planner_executor.graph.evaluation.evaluation import evaluate
from planner_executor.graph.evaluation.junit import junit_xml, trial_results
from planner_executor.graph.evaluation.results_file import Results, lock_folder
from planner_executor.graph.evaluation.suite import Suite
from planner_executor.graph.evaluation.suite_file import read_suite
from planner_executor.graph.evaluation.trial import Trial
from planner_executor.graph.prompts.direct import DIRECT
from planner_executor.graph.prompts.planner import PLANNER
from planner_executor.graph.prompts.replanner import REPLANNER
from planner_executor.graph.settings.trust import trust

Words = str | dict[str, Any] | list[dict[str, Any]]
Script = Callable[[str, Sequence[BaseMessage]], Words | Exception]
ROLES = {"direct": DIRECT, "planner": PLANNER, "replanner": REPLANNER}

SUITE = """
approval = "always"
[budget]
tokens = 100000
[prices.played]
input = 1.0
output = 10.0
[[cases]]
id = "note"
goal = "Look up the price and write it down"
workspace = "files"
checks = [{ matches = "42" }, { file = "price.txt", matches = "^42$" }, { called = "write" }]
"""

LOOK = {"id": "look", "objective": "look it up", "tool": "look", "args": {"place": "old shelf"}}
WRITE = {"id": "write", "objective": "write it down", "tool": "write", "args": {"text": "{look_result}"}}
PLAN = {"steps": [LOOK, WRITE], "answer": "it is {look_result}"}
REVISION = {"keep": ["write"], "steps": [{**LOOK, "args": {"place": "new shelf"}}]}


class PlayedModel(BaseChatModel):
    """Plays each role by a script, which is told the role and the messages; a list is the tool calls of a turn."""

    model_name: str = "played"
    _script: Script = PrivateAttr()
    _asked: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, script: Script) -> None:
        super().__init__()
        self._script = script

    @property
    def _llm_type(self) -> str:
        return "played"

    @property
    def asked(self) -> list[str]:
        return self._asked

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        role = next(role for role, words in ROLES.items() if words.splitlines()[0] in str(messages[0].text))
        self._asked.append(role)
        said = self._script(role, messages)
        if isinstance(said, Exception):
            raise said
        calls = said if isinstance(said, list) else []
        made = [{"name": call["name"], "args": call["args"], "id": f"call_{n}"} for n, call in enumerate(calls)]
        text = "" if calls else said if isinstance(said, str) else json.dumps(said)
        used = UsageMetadata(input_tokens=90, output_tokens=10, total_tokens=100)
        return ChatResult(generations=[ChatGeneration(message=AIMessage(text, tool_calls=made, usage_metadata=used))])


def call(name: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args}


def careful(role: str, messages: Sequence[BaseMessage]) -> Words:
    """The direct agent looks on both shelves; the plan looks on the old one, where nothing is."""
    if role != "direct":
        return PLAN if role == "planner" else REVISION
    seen = [message for message in messages if isinstance(message, ToolMessage)]
    rate_limiter = ([call("look", place="old shelf")], [call("look", place="new shelf")], [call("write", text="42")])
    return list(rate_limiter[len(seen)]) if len(seen) < 3 else "it is 42"


def shelves(_documents: Path, workspace: Path) -> list[Any]:
    @tool(effect="read", trusted=True)
    def look(place: str) -> str:
        """Look something up on a shelf."""
        if place != "new shelf":
            raise NothingHappened(f"nothing is on the {place}; look on the new shelf")
        return "42"

    @tool(effect="write", folder=str(workspace))
    def write(text: str) -> str:
        """Write a text down."""
        (workspace / "price.txt").write_text(text)
        return "written"

    @tool(effect="external")
    def send(text: str) -> str:
        """Send a text to a customer."""
        raise AssertionError("this is an evaluation")

    return [look, write, send]


def suite_of(folder: Path, text: str = SUITE) -> Suite:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "price.txt").write_text("unknown")
    (folder / "prices.toml").write_text(text)
    return read_suite(folder / "prices.toml")


def models_of(script: Script = careful) -> tuple[RoleModels, PlayedModel]:
    played = PlayedModel(script)
    return role_models({"planner": played}), played


def evaluated(folder: Path, suite: Suite, script: Script = careful, **more: Any) -> Results:
    models, _ = models_of(script)
    return asyncio.run(evaluate(suite, models, shelves, folder / "out", **more))


def trial_of(results: Results, arm: str) -> Trial:
    return next(trial for trial in results.trials if trial.slot.arm == arm)


def test_three_arms_try_the_same_case_and_are_set_beside_each_other(tmp_path: Path) -> None:
    results = evaluated(tmp_path, suite_of(tmp_path))

    arms = {trial.slot.arm: trial for trial in results.trials}
    assert {arm: trial.met for arm, trial in arms.items()} == {"direct": True, "static": False, "replanning": True}
    assert {arm: trial.status for arm, trial in arms.items()} == {
        "direct": "succeeded",
        "static": "failed",
        "replanning": "succeeded",
    }
    assert {arm: trial.spent.model_calls for arm, trial in arms.items()} == {"direct": 4, "static": 1, "replanning": 2}
    assert {arm: trial.spent.tokens for arm, trial in arms.items()} == {"direct": 400, "static": 100, "replanning": 200}
    assert {arm: trial.spent.tool_calls for arm, trial in arms.items()} == {"direct": 3, "static": 1, "replanning": 3}
    assert arms["direct"].spent.cost_usd == pytest.approx(4 * (90 + 100) / 1e6)
    assert arms["replanning"].spent.cost_usd == pytest.approx(2 * (90 + 100) / 1e6)


def test_what_a_person_would_be_asked_is_counted(tmp_path: Path) -> None:
    always = evaluated(tmp_path, suite_of(tmp_path))
    (tmp_path / "b").mkdir()
    effects = evaluated(tmp_path / "b", suite_of(tmp_path / "b", SUITE.replace('"always"', '"side_effects"')))

    questions = [
        {arm: trial_of(results, arm).spent.questions for arm in ("direct", "static", "replanning")}
        for results in (always, effects)
    ]
    # a direct agent is asked before each turn that calls tools, a plan once, and once more when it is revised
    assert questions[0] == {"direct": 3, "static": 1, "replanning": 2}
    assert questions[1]["direct"] == 1
    assert questions[1]["static"] == 1


def test_the_records_say_that_nobody_looked_at_the_plans(tmp_path: Path) -> None:
    results = evaluated(tmp_path, suite_of(tmp_path))

    with Agent.open(tmp_path / "out" / "runs.db") as agent:
        log = agent.log(trial_of(results, "replanning").run or "")
    assert [event.payload["by"] for event in log if event.kind == "decided"] == ["unseen", "unseen"]


def test_each_trial_works_on_a_copy_of_its_own(tmp_path: Path) -> None:
    results = evaluated(tmp_path, suite_of(tmp_path))

    texts = {
        trial.slot.arm: (tmp_path / "out" / "trials" / trial.folder / "workspace" / "price.txt").read_text()
        for trial in results.trials
    }
    assert texts == {"direct": "42", "static": "unknown", "replanning": "42"}
    assert (tmp_path / "files" / "price.txt").read_text() == "unknown"


def test_results_and_picture_are_kept(tmp_path: Path) -> None:
    results = evaluated(tmp_path, suite_of(tmp_path))

    kept = json.loads((tmp_path / "out" / "results.json").read_text())
    assert kept["summary"] == json.loads(json.dumps(results.summary.to_json()))
    assert kept["about"]["models"]["planner"] == {"model": "played"}
    assert kept["about"]["tools"] == ["look", "write"]
    assert [finding["met"] for trial in kept["trials"] for finding in trial["findings"]].count(False) == 3
    assert ElementTree.parse(tmp_path / "out" / "results.svg").getroot().tag.endswith("svg")


def test_what_is_finished_is_not_made_again(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, "repetitions = 2" + SUITE)
    models, played = models_of()

    def interrupt(_trial: Trial, number: int, _total: int) -> None:
        if number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(evaluate(suite, models, shelves, tmp_path / "out", on_trial=interrupt))
    before = json.loads((tmp_path / "out" / "results.json").read_text())["trials"]
    results = asyncio.run(evaluate(suite, models, shelves, tmp_path / "out"))

    assert len(before) == 2
    assert [trial.to_json() for trial in results.trials[:2]] == before
    assert len(results.trials) == 6
    assert played.asked.count("planner") == 4


def test_the_whole_evaluation_stays_within_its_budget_and_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    # each of the direct agent's four calls sets aside 1,000 tokens for its answer, and takes 100
    small = suite_of(tmp_path, SUITE.replace("tokens = 100000", "model_calls = 5"))
    stopped = evaluated(tmp_path, small)
    large = suite_of(tmp_path, SUITE.replace("tokens = 100000", "model_calls = 50"))

    results = evaluated(tmp_path, large)

    assert stopped.stopped is not None and "5 of 5 model calls" in stopped.stopped
    assert stopped.usage.model_calls == 5
    assert sum(trial.void is not None for trial in stopped.trials) == 1  # it was cut short, which is not its fault
    assert results.stopped is None
    assert len(results.summary.arms) == 3
    assert all(arm.trials == 1 for arm in results.summary.arms)


def test_a_budget_of_each_run_counts_against_the_arm(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, SUITE.replace("[prices", "[run_budget]\nmodel_calls = 2\n[prices"))

    results = evaluated(tmp_path, suite)

    direct = trial_of(results, "direct")
    assert (direct.status, direct.met, direct.void, direct.limit) == ("budget_exhausted", False, None, "model_calls")
    assert trial_of(results, "replanning").met


def test_a_server_that_gives_no_answer_speaks_against_no_arm(tmp_path: Path) -> None:
    def broken(role: str, messages: Sequence[BaseMessage]) -> Words | Exception:
        return PermissionDenied("no such key") if role == "direct" else careful(role, messages)

    results = evaluated(tmp_path, suite_of(tmp_path), broken)
    again = evaluated(tmp_path, suite_of(tmp_path))

    direct = trial_of(results, "direct")
    assert direct.void is not None and "no such key" in direct.void
    assert [arm.arm for arm in results.summary.arms] == ["static", "replanning"]
    assert [arm.arm for arm in again.summary.arms] == ["direct", "static", "replanning"]


class PermissionDenied(Exception):
    status_code = 401


def test_when_nothing_counts_any_more_the_evaluation_stops(tmp_path: Path) -> None:
    def dead(_role: str, _messages: Sequence[BaseMessage]) -> Exception:
        return PermissionDenied("no such key")

    results = evaluated(tmp_path, suite_of(tmp_path, "repetitions = 5" + SUITE), dead)

    assert results.stopped is not None and "no such key" in results.stopped
    assert len(results.trials) == 3


def test_a_tool_that_reaches_beyond_the_copy_is_refused_in_every_arm(tmp_path: Path) -> None:
    def eager(role: str, messages: Sequence[BaseMessage]) -> Words:
        if role != "direct":
            return {"steps": [{"id": "a", "objective": "a", "tool": "send", "args": {"text": "42"}}]}
        return "42" if isinstance(messages[-1], ToolMessage) else [call("send", text="42")]

    results = evaluated(tmp_path, suite_of(tmp_path), eager)

    assert trial_of(results, "direct").spent.tool_calls == 0
    assert trial_of(results, "static").status == "failed"
    with pytest.raises(ToolConfigError, match="send"):
        evaluated(tmp_path, suite_of(tmp_path, 'tools = ["look", "send"]' + SUITE))


def test_a_question_that_a_plan_asks_is_answered_by_nobody(tmp_path: Path) -> None:
    def asking(role: str, messages: Sequence[BaseMessage]) -> Words:
        if role == "direct":
            return "Which shelf?"
        return {"steps": [{"id": "which", "objective": "know the shelf", "ask": "Which shelf?"}]}

    results = evaluated(tmp_path, suite_of(tmp_path), asking)

    static = trial_of(results, "static")
    assert (static.status, static.spent.questions) == ("rejected", 1)
    assert static.reason is not None and "answer_question" in static.reason
    assert not trial_of(results, "direct").met


def test_results_of_other_models_are_not_mixed_in(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)
    evaluated(tmp_path, suite)
    (tmp_path / "files" / "price.txt").write_text("something else")

    with pytest.raises(ResultsError):
        evaluated(tmp_path, suite)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("[budget]\ntokens = 100000", ""), "budget"),
        (('{ called = "write" }', '{ called = "wrote" }'), "wrote"),
        (('{ matches = "42" }', '{ matches = "(" }'), "matches"),
        (('file = "price.txt", matches = "^42$"', "file = 3, cites = 1"), "file"),
        (("tokens = 100000", "cost_usd = 1.0\n[prices.another]\ninput = 1.0\noutput = 1.0\n[ignored]"), "ignored"),
    ],
)
async def test_what_cannot_work_is_told_before_anything_is_spent(
    tmp_path: Path, change: tuple[str, str], told: str
) -> None:
    models, played = models_of()

    with pytest.raises(SuiteError, match=told):
        await evaluate(suite_of(tmp_path, SUITE.replace(*change)), models, shelves, tmp_path / "out")
    assert played.asked == []


def test_a_budget_of_costs_needs_the_price_of_each_model(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, SUITE.replace("tokens = 100000", "cost_usd = 1.0").replace("prices.played", "prices.x"))

    with pytest.raises(ConfigError, match="played"):
        evaluated(tmp_path, suite)


def test_two_evaluations_do_not_work_in_one_folder_at_once(tmp_path: Path) -> None:
    suite = suite_of(tmp_path)

    def another(*_: Any) -> None:
        with pytest.raises(ResultsError, match="another evaluation"), lock_folder(tmp_path / "out"):
            pass

    assert evaluated(tmp_path, suite, on_trial=another).stopped is None


PLAYBOOK = {
    "name": "thank",
    "version": 1,
    "description": "Thank whoever wrote about {param.topic}",
    "parameters": {"topic": {"type": "string"}},
    "steps": [
        {"id": "look", "objective": "Find", "tool": "look", "args": {"place": "{param.topic}"}},
        {"id": "send", "objective": "Thank", "tool": "send", "args": {"text": "{look_result}"}},
    ],
}
RECORDED = """
params: {topic: wind}
answers:
  - {step: look, tool: look, answer: Ana}
  - {step: send, tool: send, answer: sent}
calls: [{tool: send, args: {text: Ana}, times: 1}]
"""
ARMS = """
playbook = "kept/thank.yaml"
[budget]
tokens = 100000
[arms.planned]
[arms.playbook]
[arms.knowing]
kind = "static"
playbooks = "kept"
[arms.rules]
planner = "offline"
"""


def test_cases_of_a_playbook_are_tried_with_it_and_with_planners_that_know_it_or_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "kept" / "thank.cases").mkdir(parents=True)
    (tmp_path / "kept" / "thank.cases" / "wind.yaml").write_text(RECORDED)
    file = tmp_path / "kept" / "thank.yaml"
    file.write_text(Playbook.of(PLAYBOOK).text)
    trust(file, file.read_bytes())

    def planner(_role: str, messages: Sequence[BaseMessage]) -> Words:
        if "Thank whoever wrote about {param.topic}" in str(messages):
            return {"playbook": "thank", "params": {"topic": "wind"}}
        return {"steps": [{"id": "a", "objective": "Thank", "tool": "send", "args": {"text": "Ben"}}]}

    results = evaluated(tmp_path, suite_of(tmp_path, ARMS), planner)

    assert {trial.slot.arm: (trial.met, trial.faults, trial.spent.model_calls) for trial in results.trials} == {
        "planned": (False, ["case: send(text='Ana') was called 0 times, not 1 time"], 1),
        "playbook": (True, [], 0),
        "knowing": (True, [], 1),
        "rules": (False, ANY, 2),
    }
    assert [(one.arm, one.baseline, one.verdicts["success"]) for one in results.summary.differences] == [
        (arm, "planned", "too few cases") for arm in ("playbook", "knowing", "rules")
    ]
    suites = {
        suite.get("name"): suite.get("failures") for suite in fromstring(junit_xml(trial_results(results.trials)))
    }
    assert suites == {"planned": "1", "playbook": "0", "knowing": "0", "rules": "1"}


SAMPLE = Path(__file__).parents[2] / "examples" / "evaluation" / "suite.toml"
BY_GOAL = {
    "12 * 4": call("calculator", expression="12 * 4 + 5"),
    "17 - 5": call("calculator", expression="(17 - 5) * 12"),  # not what was asked
    "offshore": call(
        "write_report", content="Offshore wind costs more (offshore-wind.txt:4), as in (offshore-wind.txt:12)."
    ),
    "storage": call(
        "write_report", content="Batteries (energy-storage.md:3) and dams (energy-storage.md:9).", path="storage.md"
    ),
    "checkout": call("write_report", content="It fails at delivery.py:25.", path="fix-draft.md"),
}


def sample(role: str, messages: Sequence[BaseMessage]) -> Words:
    """The direct agent makes one call for each goal; plans are those of the embedded rules."""
    if role != "direct":
        return answer_to(messages)
    if isinstance(messages[-1], ToolMessage):
        return f"This is what came of it: {messages[-1].text}"
    return [next(made for word, made in BY_GOAL.items() if word in str(messages[1].text))]


@pytest.mark.slow
async def test_the_sample_suite_runs_in_three_arms(tmp_path: Path) -> None:
    models, _ = models_of(sample)

    results = await evaluate(read_suite(SAMPLE), models, default_tools, tmp_path / "out")

    met = {arm.arm: arm.met for arm in results.summary.arms}
    assert met == {"direct": 4, "static": 4, "replanning": 5}
    failed = [trial.slot.name for trial in results.trials if not trial.met]
    assert sorted(failed) == ["incident static 1", "product direct 1"]
    direct, static, replanning = results.summary.arms
    assert (direct.mistaken, static.mistaken, replanning.mistaken) == (1, 0, 0)
    assert [arm.means["model_calls"].value for arm in results.summary.arms] == [2.0, 1.0, 1.2]
