"""What rules import late, since few open agents need it: with a node, beside the event loop, and never on it.

See docs/decisions/0177-nodes-imported-late.md.
"""

import planner_executor.graph.chat_models.json_text
import planner_executor.graph.plan.bounded_schema
import planner_executor.graph.policy.policy_file  # noqa: F401
