"""The arms of an evaluation with their models and playbooks, and the tools of a case that answers for them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from planner_executor.graph.calls.toolbox import Toolbox
from planner_executor.graph.chat_models.roles import RoleModels
from planner_executor.graph.chat_models.settings import OFFLINE, ModelSettings, layer
from planner_executor.graph.errors import SuiteError
from planner_executor.graph.evaluation.case_answers import Answers, CaseTool
from planner_executor.graph.evaluation.suite import ArmKind, PlaybookCase, Suite
from planner_executor.graph.plan.catalog import ToolSpec
from planner_executor.graph.plan.library import NO_LIBRARY, Library
from planner_executor.graph.playbooks.case import Case
from planner_executor.graph.playbooks.folder import library_of


@dataclass(frozen=True)
class ArmSetup:
    """An arm as it is tried; `library` are the playbooks that its planner knows."""

    kind: ArmKind
    models: RoleModels
    library: Library = field(default_factory=lambda: NO_LIBRARY)


def arm_setups(suite: Suite, models: RoleModels, tools: Mapping[str, ToolSpec]) -> dict[str, ArmSetup]:
    """Return the arms that can be tried by name; the embedded rules can plan but not act as the direct agent.

    Raises:
        ConfigError: A model cannot be created, or a folder has no playbook that the arm could know.
    """
    found = {}
    for name, arm in suite.tried.items():
        own = models if arm.planner is None else models.under(layer({"planner": ModelSettings(model=arm.planner)}))
        # The rules plan and call no tool, so that there is nothing to compare.
        if arm.kind == "direct" and own.planner.name == OFFLINE:
            continue
        library = NO_LIBRARY
        if (folder := suite.path(arm.playbooks)) is not None:
            library = library_of(folder, tools) if folder.is_dir() else NO_LIBRARY
            if not library:
                why = f"no playbook in {folder} is trusted and has the tools that are here"
                raise SuiteError(suite.name, f"arms.{name}.playbooks: {why}; run `planner-executor trust FILE`")
        found[name] = ArmSetup(arm.kind, own, library)
    if not found:
        raise SuiteError(suite.name, "no arm can be tried: the embedded rules cannot act as the direct agent")
    return found


def case_toolbox(toolbox: Toolbox, case: PlaybookCase, answers: Answers) -> Toolbox:
    """Return the tools that a case of a playbook answers for, and those that the playbook names."""
    named = {*case.recorded.tools, *case.playbook.tools}
    return Toolbox(CaseTool.over(bound.spec, answers) for name, bound in toolbox.items() if name in named)


def for_any_plan(case: Case) -> Case:
    """Return a case whose answers serve each call of their tool, whatever step makes it.

    Raises:
        ValueError: A tool has several answers, and none without a step.
    """
    answers = []
    for tool in dict.fromkeys(one.tool for one in case.answers if one.tool is not None):
        own = [one for one in case.answers if one.tool == tool]
        # An answer without a step fits any plan as it is.
        free = [one for one in own if not one.step] or own
        if len(free) > 1:
            told = f"{tool} has {len(free)} answers, each for a step of the playbook"
            raise ValueError(f"{told}; arms that plan need one without step")
        answers.append(free[0].model_copy(update={"step": "", "item": None, "call": 0}))
    return case.model_copy(update={"answers": tuple(answers)})
