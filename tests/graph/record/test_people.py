"""Who asked for what is decided, and whose votes on it count."""

from planner_executor.graph.plan.schema import Plan
from planner_executor.graph.record.events import RunForked, Voted
from planner_executor.graph.record.given_value import GivenValue
from planner_executor.graph.record.people import People
from planner_executor.graph.testing import drafted, step


def vote(approver: str, subject: str = "s", says: str = "d", *roles: str) -> Voted:
    return Voted(request=1, subject=subject, says=says, missing="one more", approver=approver, roles=roles)


def test_each_who_asked_is_named_once_and_nobody_if_it_is_not_known() -> None:
    people = People()
    assert people.starter == "unverified"
    for label in ("os:ada", None, "os:ada", "os:bob"):
        people.asked(label)

    assert people.askers == ("os:ada", "unverified", "os:bob") and people.starter == "os:ada"


def test_the_last_vote_of_a_person_on_a_subject_counts_with_those_that_say_the_same() -> None:
    people = People()
    for one in (vote("server:ada", says="e"), vote("server:Ada"), vote("server:bob", "s", "d", "finance")):
        people.voted(one)
    people.voted(vote("server:cy", subject="other"))

    assert {person: str(by) for person, by in people.voters("s", "d").items()} == {
        "ada": "server:Ada",
        "bob": "server:bob",
    }
    assert people.voters("s", "d")["bob"].roles == ("finance",)
    assert people.voters("s", "e") == {} and set(people.voters("other", "d")) == {"cy"}


def test_a_decision_closes_the_vote_and_a_proposal_is_asked_for_by_its_author() -> None:
    people = People()
    for decision, by in (("approve", "server:cy"), ("propose", "server:ada")):
        people.voted(vote("server:bob"))
        people.decided(drafted("decided", {"decision": decision, "approver": by}).data)  # type: ignore[arg-type]
        assert people.votes == {}

    assert people.askers == ("server:ada",)


def test_who_rejects_with_words_has_not_asked() -> None:
    people = People()
    for rejection in (
        {"decision": "settle", "rejected": {"k": "not him"}},
        {"decision": "feedback", "message": "less"},
    ):
        people.decided(drafted("decided", {"approver": "server:ada", **rejection}).data)  # type: ignore[arg-type]

    assert people.askers == ()


def test_a_vote_that_is_closed_without_a_decision_counts_no_more() -> None:
    people = People()
    people.voted(vote("server:bob"))

    people.closed()

    assert (people.voters("s", "d"), people.askers) == ({}, ())


def test_a_fork_has_who_asked_and_what_they_gave_and_asks_for_what_rests_on_it() -> None:
    plan = Plan.model_validate({"steps": [step("a", "look"), step("p", "pay", after=["a"]), step("b", "look")]})
    given = GivenValue("result", ("server:eve",), "a", plan=plan.to_json())
    people = People()

    people.forked(7, RunForked(source="s.1", askers=("server:ada",), values={"a": given.to_json()}))

    assert (people.askers, people.values["a"].by, people.values["a"].seq) == (("server:ada",), ("server:eve",), 7)
    assert people.askers_of(plan, {"p"}) == ("server:ada", "server:eve")
    assert people.askers_of(plan, {"b"}) == ("server:ada",)
