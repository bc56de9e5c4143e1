"""Events that another process wrote while nobody worked on the run."""

from planner_executor.graph.record.events import (
    Configured,
    Event,
    LateAnswer,
    OwnerReplaced,
    ResponseGiven,
    ResultSupplied,
    ReviewEscalated,
    ReviewExpired,
    ReviewReminded,
    RunEnded,
    StandingRevoked,
    Steered,
    StepSkipped,
    TakeOverAsked,
    ValueRedacted,
)


def is_by_others(event: Event) -> bool:
    """Whether another process wrote the event while the run had no owner: owners record their checkpoint."""
    data = event.data_if_known
    if isinstance(data, RunEnded) and not data.is_cancelled:
        return False
    by_anybody = isinstance(data, Steered | RunEnded) and data.checkpoint is None
    by_time = isinstance(data, ReviewReminded | ReviewEscalated | ReviewExpired | LateAnswer)
    by_person = isinstance(data, StepSkipped | ResultSupplied | StandingRevoked | ResponseGiven)
    takes_over = isinstance(data, TakeOverAsked) or (isinstance(data, Configured) and data.approver is not None)
    return by_anybody or by_time or by_person or takes_over or isinstance(data, OwnerReplaced | ValueRedacted)
