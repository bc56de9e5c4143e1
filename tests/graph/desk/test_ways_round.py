"""Two people at a desk: Ann, who may not decide about mails, and Bob, who may; Ann tries every form of hers."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from desk_server import DeskServer, Visit, decide, ended, query, served

from planner_executor import Person
from planner_executor.graph.desk.security.identity import proxy_identity, trusted_proxies
from planner_executor.graph.desk.security.visitor import verified
from planner_executor.graph.desk.settings import DeskSettings
from planner_executor.graph.errors import AgentError
from planner_executor.graph.testing import step

PROXIES = trusted_proxies(["127.0.0.1"], "--proxy")
PEOPLE = {"settings": DeskSettings(identity=proxy_identity("X-User", PROXIES, "--proxy"), links=False, proxies=PROXIES)}
RULES = {"approvers": {"tools": {"mail": {"names": ["bob"]}}}}
LOOK = step("look", "read", what="wind")
MAIL = "steps:\n  - {id: only, objective: send, tool: mail, args: {to: eve}}\n"
YES = {"decision": "approve"}


@dataclass
class House:
    """A desk with a browser for each of two people; `run` is what is decided about."""

    server: DeskServer
    ann: Visit
    bob: Visit
    run: str = ""

    def begin(self, *steps: Mapping[str, Any], **options: Any) -> None:
        with self.server.agent(**options) as agent:
            self.run = agent.start("g", plan={"steps": list(steps)}, thread="t", by=Person("cy")).id

    def says(self, visit: Visit, **fields: str) -> int:
        """Send the form of the review, and return how it was answered once the run stands still."""
        status = decide(visit, self.run, **fields).status_code
        ended(self.server, self.run)
        return status

    def does(self, visit: Visit, act: str, at: str = "", **fields: str) -> int:
        """Send a form of the run's other page, or of a step."""
        token = visit.hidden(query("/more", self.run))["token"]
        status = visit.post(query("/control", self.run, step=at), {"token": token, "act": act, **fields}).status_code
        with suppress(AgentError):
            ended(self.server, self.run)
        return status

    @property
    def kinds(self) -> list[str]:
        with self.server.agent() as agent:
            return [event.kind for event in agent.log(self.run)]

    @property
    def mails(self) -> list[Any]:
        return self.server.tools.named("mail")

    def bob_alone_can_decide(self) -> None:
        """Ann says yes to all that is asked, twice, and nothing is sent; then Bob does, and one mail is."""
        for _ in range(2):
            self.says(self.ann, **YES)
            assert self.mails == []
        for _ in range(3):
            if ended(self.server, self.run) == "waiting":
                self.says(self.bob, **YES)
        assert len(self.mails) == 1


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    replanned = {"steps": [step("new", "mail", to="eve")]}
    options = {"policy": RULES, "identity": verified}
    with (
        served(tmp_path / "runs.db", replanned, replanned, options=options, **PEOPLE) as server,
        ExitStack() as visits,
    ):
        ann, bob = (visits.enter_context(server.visit(**{"X-User": name})) for name in ("ann", "bob"))
        yield House(server, ann, bob)


def send(*after: str, **args: Any) -> dict[str, Any]:
    return step("send", "mail", after=list(after), **(args or {"to": "dee"}))


ASK = {"id": "q", "objective": "ask", "ask": "To whom?", "depends_on": ["look"]}
GATE = {"id": "q", "objective": "consent", "gate": "Go on?", "depends_on": ["look"]}
Attack = Callable[[House], None]


def edits(house: House) -> None:
    house.begin(LOOK)
    house.says(house.ann, decision="edit", edit_as="text", plan=MAIL)


def answers(house: House) -> None:
    house.begin(LOOK, ASK, send("q", to="{q_result}"))
    house.says(house.bob, **YES)
    house.says(house.ann, **{"decision": "answer", "answer:q:": "eve"})


def passes(house: House) -> None:
    house.begin(LOOK, GATE, send("q"))
    house.says(house.bob, **YES)
    house.says(house.ann, **YES)


def supplies(house: House) -> None:
    house.begin(LOOK, send("look", to="{look_result}"))
    house.does(house.ann, "supply", at="look", **{"supply:look": "eve"})
    house.does(house.ann, "continue")


def raises(house: House) -> None:
    house.begin(LOOK, {**LOOK, "id": "more", "depends_on": ["look"]}, send("more"), budget={"tool_calls": 1})
    house.says(house.bob, **YES)
    house.says(house.ann, **{"decision": "answer", "limit:tool_calls": "9"})


def steers(house: House) -> None:
    house.begin(LOOK)
    house.does(house.ann, "steer", feedback="write to eve")


def words(house: House) -> None:
    house.begin(LOOK)
    house.says(house.ann, decision="feedback", message="write to eve")


def carries_on(house: House) -> None:
    house.begin(send())
    for act in ("continue", "retry", "take_over", "take-over", "approve"):
        house.does(house.ann, act, **{"limit:tool_calls": "9", "policy": "{}", "approval": "never"})


def claims(house: House) -> None:
    house.begin(send())
    for more in ({"as": "bob"}, {"by": "bob", "approver": "server:bob"}, {"roles": "finance"}, {"take_over": "1"}):
        house.says(house.ann, **YES, **more)


def forges_a_digest(house: House) -> None:
    house.begin(LOOK)
    harmless = house.ann.hidden(query("/review", house.run))
    house.says(house.ann, decision="edit", edit_as="text", plan=MAIL)
    for digest in (harmless["digest"], "", house.bob.hidden(query("/review", house.run))["digest"]):
        house.ann.post(query("/decide", house.run), {**harmless, **YES, "digest": digest})
        ended(house.server, house.run)


ATTACKS: dict[str, Attack] = {
    each.__name__: each
    for each in (edits, answers, passes, supplies, raises, steers, words, carries_on, claims, forges_a_digest)
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_whatever_ann_sends_no_mail_is_sent_before_bob_has_seen_it(house: House, attack: str) -> None:
    ATTACKS[attack](house)

    assert house.mails == [] and not {"configured", "take_over_asked"} & {*house.kinds}
    house.bob_alone_can_decide()


def test_bobs_page_from_before_ann_changed_the_run_approves_nothing(house: House) -> None:
    house.begin(send())
    before = house.bob.hidden(query("/review", house.run))
    house.does(house.ann, "steer", feedback="write to eve")

    stale = house.bob.post(query("/decide", house.run), {**before, **YES})

    ended(house.server, house.run)
    assert stale.status_code == 409 and house.mails == []
    house.bob_alone_can_decide()
    assert house.mails == [{"to": "eve"}]


def test_bobs_page_from_before_ann_answered_approves_nothing(house: House) -> None:
    house.begin(LOOK, ASK, send("q", to="{q_result}"))
    before = house.bob.hidden(query("/review", house.run))
    house.says(house.bob, **YES)
    house.says(house.ann, **{"decision": "answer", "answer:q:": "eve"})

    stale = house.bob.post(query("/decide", house.run), {**before, **YES})

    ended(house.server, house.run)
    assert stale.status_code == 409 and house.mails == []
    house.bob_alone_can_decide()


def test_a_fork_of_anns_with_a_value_of_hers_is_bobs_to_decide(house: House) -> None:
    house.begin(LOOK, send("look", to="{look_result}"))
    house.does(house.ann, "fork", step="send", value_of="look", value="eve")
    with house.server.agent() as agent:
        house.run = next(run.id for run in agent.list() if run.id != house.run)

    house.bob_alone_can_decide()


def test_a_limit_that_ann_raises_with_a_retry_leaves_the_mail_to_bob(house: House) -> None:
    house.begin(LOOK, send("look"), budget={"tool_calls": 1})
    house.says(house.bob, **YES)
    house.says(house.bob, decision="finish")
    assert ended(house.server, house.run) == "budget_exhausted"

    house.does(house.ann, "retry", **{"limit:tool_calls": "9"})

    house.bob_alone_can_decide()
