"""The policy that a desk of the command line shows."""

from collections.abc import Iterator
from pathlib import Path

from planner_executor.graph.builder.configuration import policy_named
from planner_executor.graph.calls.threads import run_sync
from planner_executor.graph.cli.commands.policy import in_force
from planner_executor.graph.cli.run_options import RunOptions
from planner_executor.graph.desk.policy_view import NO_POLICY, KeptPolicy, PolicyView
from planner_executor.graph.settings.settings_file import settings_file
from planner_executor.graph.settings.trust import store_path
from planner_executor.graph.text.policy import rule_sections


def desk_policy(given: RunOptions) -> KeptPolicy:
    """Return the policy of runs that are started with these options."""

    def read() -> PolicyView:
        with in_force(given.policy, given, given.config, given.approval) as rules:
            sections = rule_sections(rules.settings, rules.terms)
            return PolicyView(rules.source or NO_POLICY, rules.terms.policy.digest, sections, rules.terms)

    def files() -> Iterator[Path]:
        named = (settings_file(given.config).path, policy_named(given.policy, given.config), given.mcp, store_path())
        return (Path(file) for file in named if file is not None)

    return KeptPolicy(lambda: run_sync(read), files)
