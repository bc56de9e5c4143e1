"""Each guard switched off in turn: does an attack get by then? Run as a script; it prints a JSON line per guard.

A guard is switched off by replacing one rule by one that allows everything. A process is forked for each, in which the
functions with the rule get the changed code; the source itself is never changed.
"""

import gc
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

SOURCE = Path(__file__).parents[2] / "planner_executor" / "graph"


@dataclass(frozen=True)
class Guard:
    """A rule at `file`: `rule` is its text, `off` what it is replaced by; `attack` is what it stops."""

    name: str
    file: str
    rule: str
    off: str
    attack: str
    mode: str = "always"
    also: tuple[str, str] | None = None


GUARDS = (
    Guard("a step's own tools", "policy/grants.py", "if tool not in self.tools:", "if False:", "another tool"),
    Guard("the number of calls", "policy/grants.py", "if made[tool] >= self.calls:", "if False:", "calls without end"),
    Guard(
        "pinned literals",
        "policy/grants.py",
        "if takes(name) and not json_equal(args.setdefault(name, literal), literal):",
        "if takes(name) and args.setdefault(name, literal) is self:",
        "another recipient",
    ),
    Guard(
        "literals are compared as JSON",
        "policy/grants.py",
        "return canonical_json(given) == canonical_json(literal)",
        "return given == literal",
        "look-alike values",
    ),
    Guard("no further arguments", "policy/grants.py", "if extra and (", "if False and (", "one more argument"),
    Guard(
        "the tool's schema",
        "calls/granted_calls.py",
        "spec.argument_faults(args) or",
        "",
        "an argument that the tool does not know",
    ),
    Guard(
        "constraints of a call",
        "calls/granted_calls.py",
        " or self._run.policy.faults(spec, args)",
        "",
        "a reference to a page of strangers",
    ),
    Guard(
        "what the policy denies",
        "policy/policy.py",
        'if self.verdict(tool) == "deny":',
        "if False:",
        "a denied tool in a wider plan",
    ),
    Guard(
        "a plan is held against the policy",
        "policy/approval_scope.py",
        "return [*found, *self.policy.issues(plan, self.tools)]",
        "return found",
        "a denied tool in a wider plan",
    ),
    Guard(
        "untrusted arguments are held",
        "calls/held_calls.py",
        " if self._run.asks else {}",
        " if False else {}",
        "an open recipient",
    ),
    Guard(
        "free arguments only",
        "policy/policy.py",
        "and name not in tool.free_args",
        "and False",
        "a reference to a page",
    ),
    Guard(
        "what a model read before its step",
        "execution/step_work.py",
        "return joined([own, label_of_params(step), *before])",
        "return own",
        "an open recipient",
    ),
    Guard(
        "what a model reads in its step",
        "execution/model_step.py",
        "self.label = joined([self.label, finished.call.label])",
        "",
        "read within the step",
    ),
    Guard(
        "no approval covers what a model makes",
        "record/trust_label.py",
        'return TrustLabel("untrusted", self.sources) if self.trust == "undeclared" else self',
        "return self",
        "words of a tool that does not say",
    ),
    Guard(
        "a model step's result is the model's words",
        "record/trust_label.py",
        'return label.by_model if step.kind == "model" else label',
        "return label",
        "what a model makes of a tool that does not say",
    ),
    Guard(
        "labels follow references",
        "record/trust_label.py",
        "(results[ref.step] for ref in references if ref.step in results)",
        "()",
        "a reference to a page",
    ),
    Guard(
        "labels go through a call",
        "calls/gate.py",
        "joined([label_of_tool(spec), *labels.values()])",
        "label_of_tool(spec)",
        "by way of a trusted tool",
    ),
    Guard(
        "items are as trusted as their list",
        "record/trust_label.py",
        "return joined([label_of_params(step, step.for_each), *named])",
        "return USER",
        "by way of a list",
    ),
    Guard(
        "the length of a list",
        "execution/for_each.py",
        "if len(items) > step.most_items:",
        "if False:",
        "a longer list",
    ),
    Guard(
        "a plan made after reading",
        "record/plan_marks.py",
        "if step.id not in state.tainted:",
        "if True:",
        "an allowed write",
        "side_effects",
    ),
    Guard(
        "an objective made after reading",
        "execution/step_work.py",
        "own = PLAN if step.id in self.record.plan_state.tainted else USER",
        "own = USER",
        "an allowed write by a model",
        "side_effects",
    ),
    Guard(
        "what was read makes a plan untrusted",
        "nodes/run/context.py",
        "supplied.untrusted or in_chat or self._has_untrusted(c for c in record.calls.by_key.values() if c.step)",
        "in_chat",
        "an allowed write",
        "side_effects",
    ),
    Guard(
        "what was said before makes a plan untrusted",
        "nodes/run/context.py",
        "supplied.untrusted or in_chat or self._has",
        "supplied.untrusted or self._has",
        "an order from an earlier answer",
        "side_effects",
    ),
    Guard(
        "all sources have to be let in",
        "policy/constraints.py",
        "set(sources) <= set(self.untrusted_from)",
        "bool(set(sources) & set(self.untrusted_from))",
        "a source that is let in, with another",
    ),
    Guard(
        "the scope of an approval",
        "policy/scope.py",
        "return not uncovered_steps(approved, plan, terms.tools)",
        "return True",
        "a check removed",
    ),
    Guard(
        "what comes before an effect",
        "policy/scope.py",
        "if not all(before in stands_for for before in plan.waits[name]):",
        "if False:",
        "a check exchanged",
        "side_effects",
    ),
    Guard(
        "changed effects",
        "policy/scope.py",
        "return any(watches(terms.tools[name])",
        "return False and any(watches(terms.tools[name])",
        "another literal",
        "side_effects",
    ),
    Guard(
        "a name stands for what it stood for",
        "policy/scope.py",
        "same = free[_work(step, stands_for)]",
        "same = free[_work(step, {})]",
        "names exchanged",
        also=("if renames and other not in plan.by_id", "if renames"),
    ),
    Guard(
        "what an approved step may be refined to",
        "policy/scope.py",
        "all(name in granted and not tools[name].acts for name in step.tool_names)",
        "True",
        "a step refined to an effect",
    ),
    Guard(
        "the budget",
        "calls/meter.py",
        "if limit := reached(self.budget, self.usage, more):",
        "if limit := None:",
        "more than the budget",
    ),
    Guard(
        "hard limits beside the budget",
        "policy/approval_scope.py",
        "return self.budget.within(self.policy.limits)",
        "return self.budget",
        "more mails than the limit",
    ),
    Guard(
        "hard limits when a budget is raised",
        "policy/raised_budget.py",
        "if over := budget.beyond(terms.policy.limits):",
        "if over := None:",
        "more mails than the limit",
    ),
)


def without(guard: Guard) -> str:
    """Return the source of the guard's file in which it is off; each line stays where it is."""
    text = (SOURCE / guard.file).read_text()
    for rule, off in [(guard.rule, guard.off), *([guard.also] if guard.also else [])]:
        if text.count(rule) != 1:
            raise SystemExit(f"{guard.file} has {text.count(rule)} times the rule of {guard.name!r}: {rule}")
        text = text.replace(rule, off)
    return text


def functions() -> list[FunctionType]:
    """Return the functions of this process that stand in the source."""
    all_there = [found for found in gc.get_objects() if isinstance(found, FunctionType)]
    return [function for function in all_there if function.__code__.co_filename.startswith(str(SOURCE))]


def switch_off(guard: Guard, there: list[FunctionType]) -> None:
    """Give the functions of the guard's file, as this process has imported it, the code without the guard."""
    file = str(SOURCE / guard.file)
    changed = {_place(code): code for code in _codes(compile(without(guard), file, "exec"))}
    here = [function for function in there if function.__code__.co_filename == file]
    with_guard = [function for function in here if function.__code__ != changed[_place(function.__code__)]]
    if not with_guard:
        raise SystemExit(f"{guard.file} has no function that is another without {guard.name!r}")
    for function in with_guard:
        function.__code__ = changed[_place(function.__code__)]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a module and of all that is defined in it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _codes(part)


def _place(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def escapes(guard: Guard, every: bool) -> Iterator[str]:
    """Yield the attacks that get by: that of the guard, or all of them."""
    from attacks import ATTACKS

    tried = [(name, mode) for name, attack in ATTACKS.items() for mode in attack.modes]
    for name, mode in tried if every else [(guard.attack, guard.mode)]:
        if _gets_by(ATTACKS[name], mode):
            yield f"{name}, {mode}"


def _gets_by(attack: Any, mode: str) -> bool:
    from hostile import evils, looks, run, says_yes, unwanted, wrongs

    try:
        careful, obliging = run(attack, looks(attack), mode), run(attack, says_yes, mode)
    except AssertionError:  # asked without end
        return True
    return bool(wrongs(careful) or evils(careful) or unwanted(attack, careful) or wrongs(obliging))


def tried(guard: Guard, there: list[FunctionType], every: bool) -> None:
    """Try one guard in this process, which is of no use afterwards."""
    switch_off(guard, there)
    found = list(escapes(guard, every))
    print(json.dumps({"guard": guard.name, "escapes": found}), flush=True)  # noqa: T201  (what the script is for)


def main() -> None:
    from attacks import ATTACKS
    from hostile import run, says_yes

    run(next(iter(ATTACKS.values())), says_yes, "always")  # so that all which it imports is there already
    there = functions()
    gc.freeze()
    gc.disable()  # each child ends soon
    chosen = [guard for guard in GUARDS if len(sys.argv) < 3 or sys.argv[2] in guard.name]
    for guard in chosen:
        child = os.fork()
        if child == 0:
            try:
                tried(guard, there, every="--all" in sys.argv[1:2])
                os._exit(0)
            except SystemExit as gone:
                print(gone, file=sys.stderr, flush=True)  # noqa: T201
            finally:
                os._exit(1)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
