"""The live objects that the nodes of a graph use."""

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from graph.calls.rate_limit import RateLimiter
from graph.calls.threads import run_sync
from graph.calls.toolbox import Toolbox
from graph.chat_models.retry import Clock
from graph.chat_models.roles import RoleModels
from graph.client_context import Context
from graph.errors import ConfigError
from graph.identity import Adapter
from graph.known_runs import KnownRuns
from graph.ledger.protocol import Ledger
from graph.notices.notifier import Notifier
from graph.prompts.data import shown_text, tools_shown
from graph.recent import Recent
from graph.record.events import Configuration, Content
from graph.record.values import Kept, normalise
from graph.settings import Settings, current_settings


def _named_only(tools: Content | None) -> Content | None:
    """Return recorded tools by their artifact's id alone; an earlier release recorded its size and preview too."""
    if tools is None or tools.artifact is None:
        return tools
    return Content(artifact={"id": tools.artifact.get("id")})


@dataclass(frozen=True)
class Services:
    """The live objects behind a graph; `ledger` opens the ledger on first use, `clock` is monotonic, in seconds."""

    settings: Settings
    toolbox: Toolbox
    models: RoleModels
    ledger: Callable[[], Awaitable[Ledger]]
    turns: RateLimiter
    clock: Callable[[], float] = time.monotonic
    pauses: Clock = field(default_factory=Clock)
    identity: Adapter | None = None
    """Verifies the people whom calling code names."""
    notifier: Notifier | None = field(default=None, repr=False, compare=False)
    """Sends notices of the runs, and is closed by whoever closes the ledger."""
    descriptions: Recent[str] = field(default_factory=Recent, repr=False, compare=False)
    """Texts of reviews; a plan that a person approves needs its text three times."""
    known_runs: KnownRuns = field(default_factory=KnownRuns, repr=False, compare=False)

    @cached_property
    def configuration(self) -> tuple[Configuration, Kept]:
        """The configuration that decisions depend on, as the ledger keeps it, and the artifact with the tools."""
        tools = self.toolbox.kept
        models: dict[str, Any] = {role: list(model.names) for role, model in self.models.by_role.items()}
        executors = {name: list(model.names) for name, model in self.models.named.items()}
        settings = {field.name: getattr(self.settings, field.name) for field in fields(self.settings)}
        settings["policy"] = self.settings.policy.to_json()
        del settings["budget"]  # each run has its own, recorded when it starts
        plain: Any = normalise(settings)
        named = Content(artifact=tools.named)
        return Configuration(settings=plain, models=models, executors=executors, tools=named), tools

    @cached_property
    def offered(self) -> Sequence[dict[str, Any]]:
        """The tools that planners are shown; denied tools are left out."""
        return tools_shown(self.toolbox.specs.values(), self.settings.policy)

    @cached_property
    def offered_text(self) -> str:
        """The offered tools as prompt text."""
        return shown_text(self.offered)

    def is_configured_as(self, recorded: Configuration) -> bool:
        """Whether a configuration on record equals this one; earlier releases recorded the tools inline."""
        current, tools = self.configuration
        if recorded == current:
            return True
        recorded = replace(recorded, settings=current_settings(recorded.settings))
        if recorded.tools is not None and recorded.tools.artifact is None:
            current = replace(current, tools=Content(tools.value))
        return current in (recorded, replace(recorded, tools=_named_only(recorded.tools)))

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

    def check_prices(self) -> None:
        """Refuse models without a known price if the budget limits the run's cost.

        Raises:
            ConfigError: A model has no price.
        """
        policy = self.settings.policy
        bounds = (self.settings.budget, policy.limits, policy.per_day.together, policy.per_day.per_user)
        if all(bound.cost_usd is None for bound in bounds):
            return
        for role, model in self.models.all_models.items():
            for name in model.paid:
                if name not in policy.prices:
                    why = f'has no price, so cost_usd cannot hold; add [prices."{name}"]'
                    raise ConfigError(f"the {role} model {name} {why}")
