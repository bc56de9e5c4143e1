"""What a graph works with, before it has a ledger: what its options come to once they are checked."""

from dataclasses import dataclass, field
from functools import cached_property

from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.errors import ConfigError
from planner_executor.graph.plan.library import Library
from planner_executor.graph.settings.identity import Adapter
from planner_executor.graph.settings.settings import Settings


@dataclass(frozen=True)
class Equipment:
    """Settings, tools and models."""

    settings: Settings
    toolbox: Toolbox
    models: RoleModels
    reserve: Toolbox = field(default_factory=lambda: Toolbox(()), kw_only=True)
    """Tools that a run which begins here does not have, for runs that were begun with them."""
    identity: Adapter | None = field(default=None, kw_only=True)
    """Verifies the people whom calling code names."""
    library: Library = field(default_factory=dict, kw_only=True)
    """The playbooks that planners may choose, by name."""

    @cached_property
    def every_tool(self) -> Toolbox:
        """All tools, those in reserve too."""
        return Toolbox((*self.toolbox.values(), *self.reserve.values()))

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
