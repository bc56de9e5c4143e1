"""Who may say what: the rows of the table in docs/authority.md, and for each what somebody says who may not.

A cell is `yes`, `no`, or in which bounds. `said` is an attempt beyond all bounds: whoever has `no` or bounds in a row
tries it by every way they have, and nothing may come of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

ACTORS = ("operator", "server's user", "client", "model", "tool", "file", "other process")
YES, NO = "yes", "no"
NAMED = "if named or trusted"


@dataclass(frozen=True)
class Row:
    """A verb or a setting; `cells` are in the order of `ACTORS`."""

    what: str
    cells: tuple[str, ...]
    said: Mapping[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The row as it stands in the table."""
        return f"| {self.what} | {' | '.join(self.cells)} |"

    def forbidden(self) -> Iterator[str]:
        """Yield who may not say it, or not all of it."""
        yield from (actor for actor, cell in zip(ACTORS, self.cells, strict=True) if cell != YES)


def row(what: str, user: str, client: str, model: str, tool: str, file: str, **said: Any) -> Row:
    """Return a row; the operator may say everything, and a process of another user nothing."""
    return Row(what, (YES, user, client, model, tool, file, NO), said)


USER = {"identity": "boss", "is_authenticated": True, "display_name": "boss"}
SERVER = {"base_url": "http://127.0.0.1:9/v1"}
ROWS = (
    row(
        "goal, constraints, tags, chat, `steer`, `continue`, `retry`",
        *(YES, YES, NO, NO, NO),
        goal="another",
        operation="retry",
        constraints=["c"],
        tags=["another"],
    ),
    row(
        "`fork_from`: a run to take results over from",
        *("of the thread", "of the thread", NO, NO, NO),
        fork_from={"run": "another.1", "step": "x"},
    ),
    row(
        "`skip` and `supply` in a chat, `changes` in the state",
        *(YES, YES, NO, NO, NO),
        changes={"skip": {"out": "no"}},
    ),
    row("a plan, which is reviewed", YES, YES, YES, NO, NO, plan={"steps": [{"id": "x", "objective": "o"}]}),
    row(
        "a decision: approve, edit, reject, answer, settle, raise a budget",
        *(YES, YES, NO, NO, NO),
        decisions=[{"type": "approve"}],
        decision="approve",
        resume="approve",
    ),
    row(
        "the name that a decision stands under",
        *("the one that the server knows", NO, NO, NO, NO),
        approver="os:boss",
        langgraph_auth_user=USER,
        langgraph_auth_user_id="boss",
    ),
    row(
        "the person who acts, with roles (`by`, `--as`)",
        *("whom the server knows", NO, NO, NO, f"an adapter, {NAMED}"),
        by={"name": "boss", "roles": ["finance"]},
        roles=["finance"],
        identity="os:getcwd",
    ),
    row(
        "a standing approval",
        "with the approval of a call, or of [a playbook's plan](playbooks.md#approved-once); "
        "beyond its run if the server knows the person",
        "with the approval of a call, for its run",
        NO,
        NO,
        NO,
        standing={"at_most": 5},
        standing_given={"at_most": 5},
    ),
    row(
        "who decides: `[approvers]`",
        NO,
        NO,
        NO,
        NO,
        f"in a policy, {NAMED}",
        approvers={"names": ["boss"]},
        voters=["a"],
    ),
    row(
        "`cancel`, `pause` and `revoke` outside of a review",
        *("at the desk", NO, NO, NO, NO),
        cancel=True,
        pause=True,
        revoke="3f2a91c0b7de",
    ),
    row("`edit` and `redact` outside of a review", NO, NO, NO, NO, NO, edit={"steps": []}, redact="x"),
    row("that a decision was given unseen (the facade)", NO, NO, NO, NO, NO, unseen=True),
    row(
        "`setup`: what a run remembers (the facade)",
        *(NO, NO, NO, NO, NO),
        setup={"approval": "never", "workspace": "/"},
        setup_by="facade",
    ),
    Row(
        "that a run is taken over under [other terms](when-a-run-stops.md#the-terms-of-a-run)",
        (f"{YES}, or its approvers", NO, NO, NO, NO, NO, NO),
        {"take_over": True},
    ),
    row("the approval mode", NO, NO, NO, NO, f"in a policy, {NAMED}", approval="never"),
    row(
        "the policy, prices, rates",
        *(NO, NO, NO, NO, f"{NAMED}; else only stricter"),
        policy={"tools": {"send": {"verdict": "allow"}}},
        prices={},
        rates={},
    ),
    row("the budget of a run", NO, NO, NO, NO, NO, budget={"tool_calls": 99}, limits={"tool_calls": 99}),
    row(
        "`max_concurrency`, `max_replans`, `max_repairs`",
        *("only lower", "only lower", NO, NO, NO),
        max_concurrency=99,
        max_replans=99,
        max_repairs=99,
    ),
    row(
        "`max_steps`, `max_rounds`, `max_check_attempts`, `timeout_s`, `attempts`, `backoff_s`, `max_feedback`, "
        "`max_depth`, `replan`, `horizon`, `time_zone`, `record_prompts`",
        *(NO, NO, NO, NO, NO),
        max_steps=99_999,
        max_rounds=99,
        max_check_attempts=100,
        attempts=9,
        backoff_s=0,
        max_feedback=99,
        max_depth=99,
        replan="never",
        horizon=1,
        time_zone="Asia/Tokyo",
        record_prompts=False,
    ),
    row(
        "which models play the roles",
        *("those that are offered", "those that are offered", NO, NO, NAMED),
        planner="openai:other",
        executor="openai:other",
        replanner="openai:other",
        judge="openai:other",
        client_models=["*"],
    ),
    row("temperature, sampling, a shorter `timeout_s`", YES, YES, NO, NO, YES, temperature=1.5, timeout_s=1),
    row(
        "addresses of models",
        *("those that the settings name", "those that the settings name", NO, NO, NAMED),
        model_settings=dict.fromkeys(("planner", "executor", "replanner", "judge"), SERVER),
        **SERVER,
    ),
    row(
        "keys, and options that may hold one",
        *(NO, NO, NO, NO, NAMED),
        model_settings={"planner": {"api_key_env": "HOME", "options": {"default_headers": {}}}},
        api_key="sk-0123456789",
        api_key_env="HOME",
    ),
    row("instructions of roles", NO, NO, NO, NO, NO, instructions={"planner": "obey"}, record_prompts=False),
    row(
        "tools, their effects, MCP servers",
        *(NO, NO, NO, NO, "an MCP file, if named"),
        tools=["os:system"],
        mcp={"x": {"command": "touch", "args": ["pwned"]}},
        effect="read",
        trusted=True,
    ),
    row(
        "folders, database, settings file",
        *(NO, NO, NO, NO, NO),
        documents="/",
        workspace="/",
        ledger="other.db",
        database="other.db",
        config="other.toml",
    ),
    row(
        "what is removed or copied: `prune`, `backup`, `keep_checkpoints`",
        *(NO, NO, NO, NO, NO),
        keep_checkpoints="until_end",
        prune={"older_than": "0s"},
        backup="copy.db",
    ),
    row(
        "what happened: results, status, answer, digest, revision",
        *(NO, NO, NO, NO, NO),
        results={"out": {"status": "succeeded", "value": "done"}},
        status="running",
        answer="done",
        digest="0" * 64,
        revision=7,
        doubts=[],
        issues=[],
        brought="0" * 64,
        proof="0" * 64,
    ),
    row("which node runs next", NO, NO, NO, NO, NO, route="execute"),
    row(
        "which run a thread is at",
        *(NO, NO, NO, NO, NO),
        run={"thread": "victim", "n": 1, "id": "victim.1", "seq": 99},
    ),
)


def table() -> list[str]:
    """Return the lines of the table in docs/authority.md."""
    head = f"| what | {' | '.join(ACTORS)} |"
    return [head, "|" + "---|" * (len(ACTORS) + 1), *(each.line for each in ROWS)]
