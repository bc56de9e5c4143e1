"""The public names as type checkers read them; `_HOME` in `__init__.py` says the same to Python."""

from planner_executor.graph.agent import Agent as Agent
from planner_executor.graph.agent import AsyncAgent as AsyncAgent
from planner_executor.graph.builder.graph_builder import build_graph as build_graph
from planner_executor.graph.chat_models.settings import ModelSettings as ModelSettings
from planner_executor.graph.errors import AgentError as AgentError
from planner_executor.graph.playbooks import Playbook as Playbook
from planner_executor.graph.record.person import Person as Person
from planner_executor.graph.runs.run import Run as Run
from planner_executor.tools.declaration import tool as tool
from planner_executor.tools.errors import (
    NothingHappened as NothingHappened,
)
from planner_executor.tools.errors import (
    ToolError as ToolError,
)
from planner_executor.tools.errors import (
    Transient as Transient,
)
from planner_executor.tools.idempotency import idempotency_key as idempotency_key
from planner_executor.tools.mcp.servers import McpServers as McpServers
from planner_executor.tools.registry import default_tools as default_tools
from planner_executor.tools.web.allowed_hosts import AllowedHost as AllowedHost
