"""Applying constraints and feedback to the remaining steps of a plan; finished steps cannot change."""

from dataclasses import replace
from typing import Any

from planner_executor.graph.chat_models.offline import brief, prose
from planner_executor.graph.chat_models.offline.audit import read_step
from planner_executor.graph.chat_models.offline.audit_goals import AuditGoal, apply_to_audit, audit_goal
from planner_executor.graph.chat_models.offline.constraints import BriefSpec, apply_to_brief
from planner_executor.graph.chat_models.offline.expression import expression_in
from planner_executor.graph.chat_models.offline.goals import brief_goal
from planner_executor.graph.chat_models.offline.remaining import NoRepair, Remaining, with_more
from planner_executor.graph.chat_models.offline.sums import checked
from planner_executor.graph.chat_models.offline.wishes import wished
from planner_executor.graph.plan.references import escape_references
from planner_executor.graph.words.name_list import counted
from planner_executor.tools.words import content_words

JsonObject = dict[str, Any]


def apply_wishes(remaining: Remaining) -> str | None:
    """Apply every constraint and all feedback to the remaining steps; return the refusal of an unknown one.

    Raises:
        NoRepair: A constraint comes too late, or the plan has no step for it.
    """
    prompt = remaining.prompt
    if expression_in(prompt.goal) is not None:
        kept = wished({"steps": [], "answer": 0}, prompt, checked, prose.WISHES_FOR_SUMS)
        return kept if isinstance(kept, str) else None
    if audit_goal(prompt.goal):
        audit = AuditGoal("", draft=_has(remaining, "write_report"))
        wanted = wished(audit, prompt, apply_to_audit, prose.WISHES_FOR_AUDITS)
        if isinstance(wanted, str):
            return wanted
        _read_also(remaining, wanted.logs)
        _report(remaining, wanted.path, is_wanted=wanted.draft)
        return None
    spec = _order_of(remaining)
    wish = wished(spec, prompt, apply_to_brief, prose.WISHES_FOR_BRIEFS)
    if isinstance(wish, str):
        return wish
    _web(remaining, spec, wish)
    _searches(remaining, spec, wish)
    _sentences(remaining, wish)
    _report(remaining, wish.path, is_wanted=wish.report)
    return None


def _order_of(remaining: Remaining) -> BriefSpec:
    """Return the specification of the plan's brief, with the queries of its goal before any constraint."""
    goal = brief_goal(remaining.prompt.goal)
    if goal and goal.topic:
        spec = replace(brief.brief_spec(goal), path=None, sentences=None, brief=False)
    else:
        spec = BriefSpec("", queries=tuple(_queries(remaining)))
    return replace(spec, web=_has(remaining, "web_search"), report=_has(remaining, "write_report"))


def _web(remaining: Remaining, spec: BriefSpec, wish: BriefSpec) -> None:
    if spec.web and not wish.web:
        if _has_run(remaining, "web_search"):
            raise NoRepair("the web has been searched already")
        remaining.drop(*_left(remaining, "web_search"))
    elif wish.web and not spec.web:
        query = spec.topic or remaining.prompt.goal
        _add_source(remaining, "web_search", f"Search the web for {query}", query)


def _searches(remaining: Remaining, spec: BriefSpec, wish: BriefSpec) -> None:
    """Add the searches that were asked for, and leave out the last ones if there are to be fewer."""
    last = apply_to_brief(spec, remaining.prompt.feedback[-1]) if remaining.prompt.feedback else None
    known = spec.queries + spec.spare
    # Only the latest words of a person may add a search; what failed is mended by the repairs.
    for query in last.queries if last and not remaining.failed else ():
        if query in wish.queries and query not in known and _is_new(remaining, query):
            _add_source(remaining, "search_documents", f"Search for {query}", query)
    if len([query for query in wish.queries if query in spec.queries]) >= len(spec.queries):
        return
    have = len(list(_queries(remaining)))
    # The last ones first: the first queries are the topic itself.
    for step in reversed(_left(remaining, "search_documents")):
        if have > len(wish.queries):
            remaining.drop(step)
            have -= 1
    if have > len(wish.queries):
        raise NoRepair(f"{counted(have, 'search has', 'searches have')} been made already")


def _sentences(remaining: Remaining, wish: BriefSpec) -> None:
    if wish.sentences is None and not wish.brief:
        return
    steps = _left(remaining, "summarize_text")
    if not steps and not remaining.failed:
        raise NoRepair("no summary is left to be made")
    for step in steps:
        args = remaining.steps[step].get("args", {})
        # A text may come of several passages; two sentences each are brief.
        most = wish.sentences or 2 * len(args["text"] if isinstance(args.get("text"), list) else [1])
        if not isinstance(args.get("max_sentences"), int) or args["max_sentences"] > most:
            remaining.give({**remaining.steps[step], "args": {**args, "max_sentences": most}})


def _report(remaining: Remaining, path: str | None, *, is_wanted: bool) -> None:
    """Leave the report out, or write it to the path that was asked for."""
    left = _left(remaining, "write_report")
    if not is_wanted:
        # What a step has done is not undone by leaving it out.
        if _has_run(remaining, "write_report"):
            raise NoRepair("the report has been written already")
        remaining.drop(*left)
        return
    if path is None:
        return
    if not left and not any(_args(remaining, step).get("path") == path for step in remaining.succeeded):
        raise NoRepair(f"no report is left to be written to {path}")
    for step in left:
        fields = remaining.steps[step]
        args = {**fields.get("args", {}), "path": path}
        if args != fields.get("args"):
            remaining.give({**fields, "objective": f"Write the report to {path}", "args": args})
            # It failed with the other path, so it may be tried again.
            remaining.failed.pop(step, None)
        elif step in remaining.failed:
            raise NoRepair(f"the report could not be written to {path}, which was asked for")


def _read_also(remaining: Remaining, logs: tuple[str, ...]) -> None:
    for log in logs:
        if any(_args(remaining, step).get("path") == log for step in remaining.every_step):
            continue
        groups = _left(remaining, "group_errors")
        if not groups:
            raise NoRepair(f"the errors have been grouped already, without {log}")
        read = read_step(remaining.new_id(), log, "info", f"Collect {log}")
        remaining.give(read)
        remaining.give(with_more(remaining.steps[groups[0]], "records", read["id"]))


def _add_source(remaining: Remaining, tool: str, objective: str, query: str) -> None:
    summaries = [
        step for step in _left(remaining, "summarize_text") if isinstance(_args(remaining, step).get("text"), list)
    ]
    if remaining.prompt.missing({tool: ("query",)}) or not summaries:
        raise NoRepair(f"nothing that is left takes the result of a further {tool}")
    step: JsonObject = {
        "id": remaining.new_id(),
        "objective": objective,
        "tool": tool,
        "args": {"query": escape_references(query)},
    }
    remaining.give(step)
    remaining.give(with_more(remaining.steps[summaries[0]], "text", step["id"]))


def _left(remaining: Remaining, tool: str) -> list[str]:
    return [step for step, fields in remaining.steps.items() if fields.get("tool") == tool]


def _has(remaining: Remaining, tool: str) -> bool:
    return bool(_left(remaining, tool)) or _has_run(remaining, tool)


def _has_run(remaining: Remaining, tool: str) -> bool:
    return any(remaining.tool(step) == tool for step in remaining.succeeded)


def _args(remaining: Remaining, step: str) -> JsonObject:
    args: JsonObject = remaining.all_steps[step].get("args", {})
    return args


def _queries(remaining: Remaining) -> list[str]:
    steps = remaining.all_steps
    kept = [step for step in steps if step in remaining.succeeded or step in remaining.steps]
    return [
        str(_args(remaining, step).get("query", "")) for step in kept if steps[step].get("tool") == "search_documents"
    ]


def _is_new(remaining: Remaining, query: str) -> bool:
    return all(set(content_words(each)) != set(content_words(query)) for each in _queries(remaining))
