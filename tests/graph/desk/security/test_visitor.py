"""The person at the browser."""

from planner_executor.graph.desk.security.visitor import LOCAL, Role, Visitor, verified
from planner_executor.graph.record.person import Person


def test_a_visitor_has_a_name_unless_it_is_the_user_of_this_process() -> None:
    assert Visitor(Person("ada"), Role.READER, "an id").name == "ada"
    assert Visitor(None, Role.REVIEWER, "an id").name == LOCAL == ""


def test_a_reviewer_decides_and_a_reader_does_not() -> None:
    assert [Visitor(None, role, "an id").decides for role in (Role.REVIEWER, Role.READER)] == [True, False]


def test_a_visitor_has_a_session_apart_unless_it_is_said_otherwise() -> None:
    visitor = Visitor(None, Role.READER, "an id")

    assert (visitor.has_session, visitor.ends_at, visitor.is_apart) == (True, None, True)


def test_the_desk_vouches_for_whom_it_has_signed_in() -> None:
    assert verified(Person("ada")) == Person("ada") and verified(None) is None
