"""Errors beside a run: of visitors of the review desk, and of notices."""

from planner_executor.graph.errors.root import AgentError


class SignInError(AgentError):
    """A visitor of the review desk could not be signed in."""


class NoticeError(AgentError):
    """A notice was not delivered; the message names neither address nor secret."""
