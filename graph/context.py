"""The live objects that the nodes of a graph use."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from planner_executor.graph.calls.equipment import Equipment
from planner_executor.graph.calls.rate_limit import SHORT_WAIT_S, RateLimiter, process_rate_limiter
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.client_context import Context
from planner_executor.graph.ledger.known_runs import KnownRuns
from planner_executor.graph.ledger.protocol import Ledger
from planner_executor.graph.plan.recent import Recent
from planner_executor.graph.policy.terms import Comparison, Terms
from planner_executor.graph.prompts.offer import Offer
from planner_executor.graph.record.budget import Budget, limits_of_a_run
from planner_executor.graph.record.events import Configuration, Content
from planner_executor.graph.record.values import Kept, keep_constant, normalise
from planner_executor.graph.settings.settings import SETTINGS

if TYPE_CHECKING:
    from planner_executor.graph.notices.notifier import Notifier

PLAIN_SETTINGS = tuple(name for name in SETTINGS if name not in ("policy", "budget"))
"""The settings that the record keeps as they are."""


@dataclass(frozen=True)
class Services(Equipment):
    """The live objects behind a graph; `ledger` opens the ledger on first use, `clock` is monotonic, in seconds."""

    ledger: Callable[[], Awaitable[Ledger]]
    turns: RateLimiter
    clock: Callable[[], float] = time.monotonic
    pauses: Clock = field(default_factory=Clock)
    notifier: "Notifier | None" = field(default=None, repr=False, compare=False)
    """Sends notices of the runs, and is closed by whoever closes the ledger."""
    reviews: Recent[tuple[str, str]] = field(default_factory=Recent, repr=False, compare=False)
    """What the reviews of plans say, as JSON and in words; a plan that a person approves needs both three times.

    Texts, as a collection of garbage walks through all that is kept of a large plan as data (decision 175).
    """
    judges_terms: bool = True
    """Whether a run is compared with its terms on record; a replay is under whatever the record says."""
    known_runs: KnownRuns = field(default_factory=KnownRuns, repr=False, compare=False)
    held: "Recent[tuple[Services, Comparison]]" = field(default_factory=Recent, init=False, repr=False, compare=False)
    """These services under the terms of runs that are other than theirs; changed services begin with none."""

    @cached_property
    def terms(self) -> Terms:
        """The terms of a run that begins here."""
        settings: Any = normalise({name: getattr(self.settings, name) for name in PLAIN_SETTINGS})
        return Terms(
            tools=self.toolbox.faces,
            models={role: list(model.names) for role, model in self.models.by_role.items()},
            executors={name: list(model.names) for name, model in self.models.named.items()},
            settings=settings,
            policy=self.settings.policy,
            budget=self.settings.budget,
        )

    def terms_beside(self, recorded: Terms) -> Terms:
        """Return the terms here as a run on record meets them: tools in reserve that it was begun with are there."""
        kept = {name: face for name, face in self.reserve.faces.items() if name in recorded.tools}
        return replace(self.terms, tools={**self.terms.tools, **kept})

    @cached_property
    def configuration(self) -> tuple[Configuration, list[Kept]]:
        """The terms besides the budget, as the ledger keeps them, and their artifacts: tools, policy, playbooks."""
        terms, tools = self.terms, self.toolbox.kept
        policy = [keep_constant(raw)] if (raw := terms.policy.to_json()) else []
        playbooks = [keep_constant([one.to_json() for one in self.library.values()])] if self.library else []
        configured = Configuration(
            settings=terms.settings,
            models=terms.models,
            executors=terms.executors,
            tools=Content(artifact=tools.named),
            policy=Content(artifact=policy[0].named) if policy else None,
            playbooks=Content(artifact=playbooks[0].named) if playbooks else None,
            limits=limits_of_a_run(raw),
        )
        return configured, [tools, *policy, *playbooks]

    @cached_property
    def offer(self) -> Offer:
        """The tools that planners are offered; denied tools are left out."""
        settings = self.settings
        return Offer.of(self.toolbox.specs, settings.policy, settings.look, only_trusted=settings.approval == "never")

    def held_to(self, terms: Terms) -> "Services":
        """Return the services under terms that these can keep to: with no other tools, and the policy of these."""
        if terms == self.terms:
            return self
        limits: dict[str, Any] = {**terms.settings, "policy": terms.policy, "budget": terms.budget}
        named = {name: model for name, model in self.models.named.items() if name in terms.executors}
        return replace(
            self,
            settings=replace(self.settings, **limits),
            toolbox=self.every_tool.only(terms.tools),
            models=replace(self.models, named=named),
            turns=process_rate_limiter(terms.policy.rates, SHORT_WAIT_S),
        )

    async def under(self, context: Context | None) -> "Services":
        """Return the services with a client's settings for this invocation.

        Raises:
            ConfigError: A setting exceeds the operator's limits, a model cannot be made, or a model that needs a price
                has none.
        """
        if context is None:
            return self
        changed = replace(self, settings=replace(self.settings, **context.limits(self.settings)))
        stronger = context.layer(self.models)
        if not stronger:
            return changed
        # on a thread, because making a model may import its package
        changed = replace(changed, models=await run_sync(lambda: self.models.under(stronger)))
        changed.check_prices()
        return changed

    def within(self, limits: Budget) -> "Services":
        """Return the services with a budget within these limits."""
        return replace(self, settings=replace(self.settings, budget=self.settings.budget.within(limits)))
