"""The facade, one class for synchronous and one for asynchronous code."""

from planner_executor.graph.agent.asynchronous import AsyncAgent
from planner_executor.graph.agent.synchronous import Agent

__all__ = ["Agent", "AsyncAgent"]
