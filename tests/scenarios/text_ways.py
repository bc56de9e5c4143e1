"""How text can reach an argument of a call with an effect, and what comes of it: one table, for runs and for docs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hostile import calls

from planner_executor.graph.testing import step

Steps = list[dict[str, Any]]
End = Literal["plan", "named", "warned", "policy", "call"]
TRUST: Mapping[str, dict[str, Any]] = {
    "trusted": {"trusted": True},
    "not declared": {},
    "untrusted": {"trusted": False},
}
"""What the tool `source`, whose results reach the argument, declares of them."""

ENDS: Mapping[End, str] = {
    "plan": "the approval of the plan",
    "named": "the approval of the plan, whose review names the tool",
    "warned": "the approval of the plan, whose review warns",
    "policy": "the policy",
    "call": "**the call is shown**",
}
"""What lets the call be made; "call": a person sees it, with its values, as the review of its plan has said."""

ANN = "ann@example.com"
RESULT = {"to": ANN, "all": [ANN], "rows": [{"n": 1, "to": ANN}]}


@dataclass(frozen=True)
class Way:
    """One way: the steps, the answers of the executor model, and the end for each declaration of the tool `source`.

    `revision` is what the replanner answers once the step `f` has failed, `options` are those of the graph.
    """

    words: str
    steps: Steps
    ends: tuple[End, End, End]
    executor: tuple[Any, ...] = ()
    revision: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def end(self, trust: str) -> End:
        return self.ends[list(TRUST).index(trust)]


READ = step("r", "source")
BY_REFERENCE: tuple[End, End, End] = ("plan", "named", "call")
BY_MODEL: tuple[End, End, End] = ("plan", "call", "call")
ALWAYS: tuple[End, End, End] = ("plan", "plan", "plan")


def send(to: Any, **fields: Any) -> dict[str, Any]:
    return step("s", "send", to=to) | fields


def model(name: str, *tools: str, after: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    return {"id": name, "objective": f"do {name}", "tools": list(tools), "depends_on": list(after), **fields}


THOUGHT = model("m", after=("r",))
REVISED, REVISION = [READ, step("f", "flaky", after=["r"])], {"steps": [send(ANN)]}
SENT = (calls(("send", {"to": ANN})), "sent")

WAYS = (
    Way("a literal of the plan", [READ, send(ANN, depends_on=["r"])], ALWAYS),
    Way("a reference, `{r_result.to}`", [READ, send("{r_result.to}")], BY_REFERENCE),
    Way("a reference within text", [READ, send("<{r_result.to}>")], BY_REFERENCE),
    Way("a JMESPath expression", [READ, send("{r_result.max_by(rows, &n).to}")], BY_REFERENCE),
    Way("the item of a `for_each`", [READ, send("{item_result}", for_each="{r_result.all}")], BY_REFERENCE),
    Way(
        "a reference to a `gather` of it",
        [READ, {"id": "g", "objective": "o", "gather": {"to": "{r_result.to}"}}, send("{g_result.to}")],
        BY_REFERENCE,
    ),
    Way(
        "a reference to what a trusted tool made of it",
        [READ, step("u", "upper", text="{r_result.to}"), send("{u_result}")],
        BY_REFERENCE,
    ),
    Way(
        "a reference to the result of a model step that was shown it",
        [READ, THOUGHT, send("{m_result}")],
        BY_MODEL,
        (ANN,),
    ),
    Way(
        "a reference to the result of a model step that called the tool",
        [model("m", "source"), send("{m_result}")],
        BY_MODEL,
        (calls(("source", {})), ANN),
    ),
    Way(
        "the item of a list that a model step made of it",
        [READ, THOUGHT | {"output": "json"}, send("{item_result}", for_each="{m_result}")],
        BY_MODEL,
        (f'["{ANN}"]',),
    ),
    Way(
        "the item of a `for_each` of model steps",
        [
            READ,
            model("m", for_each="{r_result.all}", args={"of": "{item_result}"}),
            send("{item_result}", for_each="{m_result}"),
        ],
        BY_MODEL,
        (ANN,),
    ),
    Way(
        "a `gather` of the result of a model step",
        [READ, THOUGHT, {"id": "g", "objective": "o", "gather": ["{m_result}"]}, send("{g_result[0]}")],
        BY_MODEL,
        (ANN,),
    ),
    Way("an argument that a model fills in", [READ, model("s", "send", after=("r",))], BY_MODEL, SENT),
    Way(
        "an argument that the plan pins in a model step",
        [READ, model("s", "send", after=("r",), args={"to": ANN})],
        ALWAYS,
        (calls(("send", {})), "sent"),
    ),
    Way(
        "an argument that a model fills in, of a tool that declares no effect",
        [READ, model("s", "post", after=("r",))],
        ("warned", "warned", "call"),
        (calls(("post", {"to": ANN})), "sent"),
    ),
    Way("an argument among `free_args`", [READ, step("s", "note", text="{r_result.to}")], ("plan", "named", "plan")),
    Way(
        "a model's text in an argument among `free_args`",
        [READ, THOUGHT, step("s", "note", text="{m_result}")],
        ("plan", "named", "plan"),
        (ANN,),
    ),
    Way(
        "a literal of a revision that a model wrote after the read",
        REVISED,
        ("plan", "plan", "call"),
        revision=REVISION,
    ),
    Way(
        "a literal of such a revision, if the policy has it pass without a person",
        REVISED,
        ("policy", "policy", "call"),
        revision=REVISION,
        options={"approval": "side_effects", "policy": {"tools": {"send": {"verdict": "allow"}}}},
    ),
    Way(
        "a person's answer, by an `ask` step that was shown it",
        [READ, {"id": "q", "objective": "o", "ask": "To whom?", "depends_on": ["r"]}, send("{q_result}")],
        ALWAYS,
    ),
)


def table() -> str:
    """Return the table of `docs/trust.md`: what lets a call be made, by the trust in the tool's results."""
    rows = [f"| {way.words} | {' | '.join(ENDS[end] for end in way.ends)} |" for way in WAYS]
    head = f"| How the text reaches the argument | {' | '.join(TRUST)} |"
    return "\n".join([head, "|---|---|---|---|", *rows])
