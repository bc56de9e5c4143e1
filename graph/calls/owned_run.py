"""What the gates of one pass over the plan of a run share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from planner_executor.graph.calls.caps import NO_CAPS, Caps
from planner_executor.graph.calls.meter import Meter
from planner_executor.graph.calls.rate_limit import RateLimiter
from planner_executor.graph.calls.tool_call import ToolCall
from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.ledger.protocol import Lease, Ledger
from planner_executor.graph.plan.attempts import NO_LIMITS, AttemptLimits
from planner_executor.graph.policy.policy import NO_POLICY, Policy
from planner_executor.graph.record.run_state import RunState
from planner_executor.tools.call_progress import CallProgress

CLOCK = Clock()
OnProgress = Callable[[ToolCall, CallProgress], None]


@dataclass(frozen=True)
class OwnedRun:
    """An owned run in its recorded state at the start of a node, and what its calls are held to.

    `meter` is its budget, `turns` are rate limits, `caps` those across runs. With `asks`, untrusted arguments are held
    for review. `limits` say how long and how often a call may be tried at most, and `clock` waits between two attempts.
    `instructions` are added to the prompts of roles, which are recorded with `record_prompts`; answers always are.
    `on_progress` receives the progress messages of tools, on the event loop of the run.
    """

    ledger: Ledger
    lease: Lease
    record: RunState
    toolbox: Toolbox
    meter: Meter
    turns: RateLimiter
    policy: Policy = NO_POLICY
    caps: Caps = NO_CAPS
    asks: bool = True
    limits: AttemptLimits = NO_LIMITS
    clock: Clock = CLOCK
    instructions: Mapping[str, str] = field(default_factory=dict)
    record_prompts: bool = True
    on_progress: OnProgress | None = None
