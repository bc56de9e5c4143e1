"""Who decides is on record: whom the server has authenticated, whom the system knows, or nobody that is verified."""

import getpass
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from graph.identity import UNVERIFIED, approver


class Said(TypedDict, total=False):
    who: str


class User:
    """A user as a server's authentication gives one."""

    display_name, permissions = "Ann", ()

    def __init__(self, identity: str, is_authenticated: bool = True) -> None:
        self.identity, self.is_authenticated = identity, is_authenticated


def named(**configurable: Any) -> str:
    """Ask within a node, as review does; a server puts what it knows into the configuration."""

    def node(state: Said) -> Said:
        return {"who": approver()}

    graph = StateGraph(Said)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return str(graph.compile().invoke({}, {"configurable": configurable})["who"])


def test_in_a_process_of_ones_own_it_is_the_user_whom_the_system_knows() -> None:
    assert named() == f"os:{getpass.getuser()}"


def test_behind_a_server_it_is_the_user_whom_it_has_authenticated() -> None:
    assert named(assistant_id="a", langgraph_auth_user=User("ann@example.com")) == "server:ann@example.com"


@pytest.mark.parametrize(
    "user",
    [
        None,
        User("ann@example.com", is_authenticated=False),
        User(""),
        {"identity": "ann@example.com", "is_authenticated": True},
    ],
)
def test_a_server_that_knows_nobody_verifies_nobody_whatever_a_client_says(user: Any) -> None:
    assert named(assistant_id="a", langgraph_auth_user=user, user="ann", langgraph_auth_user_id="ann") == UNVERIFIED


def test_a_system_that_knows_no_name_verifies_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_000)

    assert named() == UNVERIFIED
