"""The root of the family."""


class AgentError(Exception):
    """Base class of all deliberate errors of the agent."""
