"""Ten steps, two mails, and a model whose service is out at the ninth: the run is retried the next day, and forked."""

from pathlib import Path
from typing import Any

from planner_executor import Agent
from planner_executor.graph.testing import LoggedTools, ScriptedModel, step

PLAN: dict[str, Any] = {
    "steps": [
        step("s1", "look", at="orders"),
        step("s2", "look", at="{s1_result}"),
        step("s3", "look", at="price"),
        step("s4", "mail", to="ada", text="it costs {s3_result}"),
        step("s5", "look", at="{s4_result}"),
        step("s6", "mail", to="bo", text="it costs {s3_result}", after=["s5"]),
        step("s7", "look", at="{s6_result}"),
        step("s8", "look", at="{s2_result}"),
        step("s9", after=["s7", "s8"]),
        step("s10", "look", at="{s9_result}"),
    ]
}
OUT = ConnectionError("the service is out")


def test_a_retry_the_next_day_sends_neither_mail_again_and_a_fork_asks_before_each(
    tmp_path: Path, tools: LoggedTools
) -> None:
    own = [tools.tool("mail", lambda **_: "sent", effect="external"), tools.tool("look", lambda at: at, effect="read")]

    def opened(*answers: Any) -> Agent:
        executor = ScriptedModel(list(answers))
        return Agent.open(tmp_path / "runs.db", planner=ScriptedModel([]), executor=executor, tools=own, replan="never")

    def mails() -> list[tuple[str, str]]:
        return [(args["to"], args["text"]) for name, args in tools.calls if name == "mail"]

    sent = [("ada", "it costs price"), ("bo", "it costs price")]
    with opened(OUT) as agent:
        run = agent.resume(agent.start("tell the customers", plan=PLAN).id, "approve")
    assert run.status == "failed" and run.step_status["s9"] == "failed" and mails() == sent

    with opened("all are told") as agent:
        run = agent.retry(run.id)
    assert (run.status, run.answer) == ("succeeded", "all are told") and mails() == sent

    with opened("all are told anew") as agent:
        fork = agent.fork(run.id, "s3", values={"s3": "9 EUR"})
        asked = []
        while fork.request is not None:
            asked.append([(one["name"], one["args"].get("step")) for one in fork.request["action_requests"]])
            before = len(mails())
            fork = agent.resume(fork.id, fork.decide(approve=True))
            assert len(mails()) - before == asked[-1].count(("run_step", "s4")) + asked[-1].count(("run_step", "s6"))
        assert agent.replay(run.id).is_same and agent.replay(fork.id).is_same

    assert asked == [[("run_plan", None)], [("run_step", "s4")], [("run_step", "s6")]]
    assert mails() == [*sent, ("ada", "it costs 9 EUR"), ("bo", "it costs 9 EUR")]
    assert (fork.status, fork.answer) == ("succeeded", "all are told anew")
