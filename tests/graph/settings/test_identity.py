"""Who decides is on record: whom the server has authenticated, whom the system knows, or nobody that is verified."""

import getpass
from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from planner_executor.graph.errors import ConfigError, InputError
from planner_executor.graph.record.person import Approver, Person
from planner_executor.graph.settings.identity import UNVERIFIED, _of_server, acting, server_roles
from planner_executor.graph.settings.identity import named as named_by


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
        return {"who": str(acting())}

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


def test_a_person_whom_calling_code_names_is_claimed_and_one_that_an_adapter_verifies_is_the_servers() -> None:
    ada, verified = Person("ada@example.org", roles=["finance"], proof="token"), Person("ada@example.org", ["lead"])

    assert str(named_by(ada)) == "claimed:ada@example.org"
    assert named_by(ada, lambda _: None).source == "claimed"
    assert named_by(ada, lambda by: verified if by and by.proof else None) == Approver(
        "ada@example.org", "server", ("lead",)
    )


def test_somebody_who_is_no_person_is_refused() -> None:
    with pytest.raises(InputError):
        named_by("server:ada")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="adapter returned a str"):
        named_by(None, lambda _: "ada")  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("given", "roles"), [({"roles": ["finance"]}, ("finance",)), ({}, ("write",)), ({"roles": "x"}, ())]
)
def test_the_roles_of_a_servers_user_are_those_of_its_authentication(given: Any, roles: Any) -> None:
    class Ann(User):
        permissions = ("write",)  # type: ignore[assignment]

    ann = Ann("ann@example.com")
    vars(ann).update(given)

    assert _of_server(ann).roles == roles


def test_outside_of_a_node_it_is_the_user_whom_the_system_knows() -> None:
    assert str(acting()) == f"os:{getpass.getuser()}"


def test_a_user_of_whom_the_server_does_not_say_that_they_are_authenticated_is_nobody() -> None:
    assert str(_of_server(SimpleNamespace(identity="ann@example.com"))) == UNVERIFIED


@pytest.mark.parametrize(
    ("given", "roles"), [(["a", 7, None, "b"], ("a", "b")), ({"a"}, ()), (7, ()), (("a",), ("a",))]
)
def test_roles_are_the_texts_of_a_list(given: Any, roles: tuple[str, ...]) -> None:
    assert server_roles(SimpleNamespace(roles=given)) == roles
