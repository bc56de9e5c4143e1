"""What the methods of an agent import late: with the ledger, beside the event loop, and never on it.

See docs/decisions/0160-an-agent-opens-before-it-drives.md.
"""

import planner_executor.graph.agent.watching
import planner_executor.graph.playbooks.starting
import planner_executor.graph.runs.alike
import planner_executor.graph.runs.approvals
import planner_executor.graph.runs.forking
import planner_executor.graph.runs.inbox
import planner_executor.graph.runs.playbooks
import planner_executor.graph.runs.record_service
import planner_executor.graph.runs.runs
import planner_executor.graph.runs.step_changes  # noqa: F401
