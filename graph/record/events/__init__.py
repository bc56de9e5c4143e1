"""The events of the ledger: a class for each kind of event, and events before they are written and after they are read.

A new kind is a class in one of these files and a member of the union `EventData`; mypy then names all code that must
handle it.
"""

from planner_executor.graph.record.events.by_person import ResultSupplied, StepSkipped
from planner_executor.graph.record.events.call import CallFinished, CallPreviewed, CallRefused, CallStarted
from planner_executor.graph.record.events.call_asked import AskedQuestion, CallAsked
from planner_executor.graph.record.events.cap import CapReached
from planner_executor.graph.record.events.content import Arguments, Content
from planner_executor.graph.record.events.deadline import LateAnswer, ReviewEscalated, ReviewExpired, ReviewReminded
from planner_executor.graph.record.events.event import ASIDE, CONTROL, TYPES, Draft, Event, EventData
from planner_executor.graph.record.events.fork import CallInherited, Inherited, RunForked
from planner_executor.graph.record.events.held_call import EarlierCall, StepHeld, StepUncertain, ValueShown
from planner_executor.graph.record.events.met import Met
from planner_executor.graph.record.events.model import Brief, FailedAttempt, ModelFinished, ModelStarted, Prompt, Tokens
from planner_executor.graph.record.events.payload import Payload
from planner_executor.graph.record.events.plan import Executing, PlanRefused, PlanRevised, Steered
from planner_executor.graph.record.events.response import ResponseGiven
from planner_executor.graph.record.events.retry import RunReopened
from planner_executor.graph.record.events.review import (
    WITHOUT_ANSWER,
    Decided,
    ReviewRequested,
    SettledCall,
    SettledWithPlan,
)
from planner_executor.graph.record.events.run import (
    ASKED,
    BY_FACADE,
    HANDED_OVER,
    INTERRUPTED,
    NO_CONFIGURATION,
    ON_SERVER,
    WORDING,
    Configuration,
    Configured,
    LeftPayload,
    OwnerReplaced,
    Paused,
    RunEnded,
    RunStarted,
    TakeOverAsked,
    ValueRedacted,
    cancelled,
)
from planner_executor.graph.record.events.standing import StandingGiven, StandingRevoked
from planner_executor.graph.record.events.step import BudgetReached, ConditionEvaluated, StepChecked, StepFinished
from planner_executor.graph.record.events.vote import Voted

__all__ = [
    "ASIDE",
    "ASKED",
    "BY_FACADE",
    "CONTROL",
    "HANDED_OVER",
    "INTERRUPTED",
    "NO_CONFIGURATION",
    "ON_SERVER",
    "TYPES",
    "WITHOUT_ANSWER",
    "WORDING",
    "Arguments",
    "AskedQuestion",
    "Brief",
    "BudgetReached",
    "CallAsked",
    "CallFinished",
    "CallInherited",
    "CallPreviewed",
    "CallRefused",
    "CallStarted",
    "CapReached",
    "ConditionEvaluated",
    "Configuration",
    "Configured",
    "Content",
    "Decided",
    "Draft",
    "EarlierCall",
    "Event",
    "EventData",
    "Executing",
    "FailedAttempt",
    "Inherited",
    "LateAnswer",
    "LeftPayload",
    "Met",
    "ModelFinished",
    "ModelStarted",
    "OwnerReplaced",
    "Paused",
    "Payload",
    "PlanRefused",
    "PlanRevised",
    "Prompt",
    "ResponseGiven",
    "ResultSupplied",
    "ReviewEscalated",
    "ReviewExpired",
    "ReviewReminded",
    "ReviewRequested",
    "RunEnded",
    "RunForked",
    "RunReopened",
    "RunStarted",
    "SettledCall",
    "SettledWithPlan",
    "StandingGiven",
    "StandingRevoked",
    "Steered",
    "StepChecked",
    "StepFinished",
    "StepHeld",
    "StepSkipped",
    "StepUncertain",
    "TakeOverAsked",
    "Tokens",
    "ValueRedacted",
    "ValueShown",
    "Voted",
    "cancelled",
]
