"""The remaining steps of a plan, and the changes that make up a revision."""

from collections.abc import Callable, Mapping
from typing import Any

from planner_executor.graph.chat_models.offline.prompt_document import PromptDocument
from planner_executor.graph.plan.json_values import with_texts
from planner_executor.graph.plan.json_writer import COMPACT, json_writer
from planner_executor.graph.plan.lookalikes import lookalikes_in
from planner_executor.graph.plan.references import Reference, escape_references, join_pieces, pieces, references_in
from planner_executor.graph.plan.schedule import last_steps, waits_for
from planner_executor.graph.plan.schema import Step

JsonObject = dict[str, Any]
Write = Callable[[Reference], Reference | str]
_as_text = json_writer(separators=COMPACT)


class NoRepair(Exception):
    """The rules have no repair; the message gives the reason."""


class Remaining:
    """The steps that have not succeeded, by id, and the answer; records all changes."""

    def __init__(self, prompt: PromptDocument) -> None:
        plan = prompt.document["plan"]
        shown: Mapping[str, JsonObject] = prompt.document.get("results", {})
        errors: Mapping[str, Any] = prompt.document.get("failed", {})
        self.prompt = prompt
        self._shown = shown
        self.every_step: dict[str, JsonObject] = {step["id"]: step for step in plan["steps"]}
        self.status = {step: shown.get(step, {}).get("status", "pending") for step in self.every_step}
        self.succeeded = [step for step, status in self.status.items() if status == "succeeded"]
        self.steps = {step: fields for step, fields in self.every_step.items() if step not in self.succeeded}
        self.failed = {step: str(errors[step] or "no reason given") for step in self.steps if step in errors}
        self.answer = plan.get("answer")
        self._changed: list[str] = []
        self._old_answer = self.answer

    @property
    def all_steps(self) -> dict[str, JsonObject]:
        """All steps by id, those that have not succeeded as they are by now."""
        return {**self.every_step, **self.steps}

    def failed_calls(self, tool: str) -> list[JsonObject]:
        """Return the failed steps of a tool."""
        return [self.steps[step] for step in self.failed if step in self.steps and self.tool(step) == tool]

    def tool(self, step: str) -> str | None:
        """Return the tool of a deterministic step."""
        return self.every_step[step].get("tool")

    def preview(self, step: str) -> str:
        """Return the beginning of a succeeded step's result: a text as it is, anything else as JSON."""
        found = self._shown.get(step, {}).get("preview", "")
        return found if isinstance(found, str) else _as_text(found)

    def give(self, step: JsonObject) -> None:
        """Replace the step with the same id, or add the step."""
        self.steps[step["id"]] = step
        if step["id"] not in self._changed:
            self._changed.append(step["id"])

    def note(self, words: str) -> None:
        """Add a note to the answer if it is an object."""
        if isinstance(self.answer, dict):
            before = self.answer.get("note")
            self.answer = {**self.answer, "note": f"{before}; {words}" if isinstance(before, str) else words}

    def new_id(self) -> str:
        """Return an unused step id."""
        taken = {*self.every_step, *self.steps}
        return next(
            name for name in (f"step_{n}" for n in range(len(taken) + 1, 2 * len(taken) + 2)) if name not in taken
        )

    def can_drop(self, step: str) -> bool:
        """Whether the rest of the plan works without a step."""
        return self._without(step) is not None

    def drop(self, *steps: str) -> None:
        """Drop steps, and the references to them in lists and in the answer.

        Raises:
            NoRepair: Another step or the answer needs one.
        """
        for step in steps:
            left = self._without(step)
            if left is None:
                raise NoRepair(f"the rest of the plan needs {step}")
            changed, self.answer = left
            if step in self.failed:
                self.note(f"left out, since it failed: {self._words_for(step)}")
            del self.steps[step]
            for fields in changed:
                self.give(fields)

    def exchange(self, step: str, new: JsonObject) -> None:
        """Replace a step by one with another id, and redirect all references."""
        self.give({**new, "replaces": step} if step in self.failed else new)
        self.redirect(step, new["id"])
        del self.steps[step]

    def redirect(self, step: str, to: str) -> None:
        """Redirect references and dependencies from one step to another."""
        self._rewrite(step, lambda found: found.renamed({step: to}))
        for name, fields in list(self.steps.items()):
            if step in fields.get("depends_on", []):
                depends_on = [to if before == step else before for before in fields["depends_on"]]
                self.give({**self.steps[name], "depends_on": depends_on})

    def drop_with_text(self, step: str, words: str) -> None:
        """Drop a step, and replace references to its result by a text.

        Raises:
            NoRepair: Another step or the answer needs it.
        """
        # First, since a step that others refer to cannot be dropped.
        self._rewrite(step, lambda _: words)
        self.drop(step)

    def refers_to_parts_of(self, step: str) -> bool:
        """Whether the rest of the plan refers to parts of a step's result, and so depends on its shape."""
        values = [*map(_open_args, self.steps.values()), self.answer]
        found = (reference for value in values for reference in references_in(value) if reference.step == step)
        return any(reference.path or reference.expression for reference in found)

    def revision(self) -> JsonObject:
        """Return the revision; if no step remains, it consists of the answer."""
        keep = [step for step in self.steps if step not in self._changed]
        revision: JsonObject = {"keep": keep} if keep else {}
        revision["steps"] = [self.steps[step] for step in self._changed if step in self.steps]
        if self.answer != self._old_answer or not self.steps:
            revision["answer"] = self.answer if self.answer is not None else self._results()
        return revision

    def _words_for(self, step: str) -> str:
        """Return a step's objective, or its id if the objective contains a look-alike of a reference."""
        objective = escape_references(str(self.steps[step].get("objective", step)))
        return step if any(lookalikes_in(objective, self.every_step)) else objective

    def _rewrite(self, step: str, write: Write) -> None:
        for name, fields in list(self.steps.items()):
            if name != step and _refers(_open_args(fields), step):
                self.give({**fields, "args": {**fields["args"], **_rewritten(_open_args(fields), step, write)}})
        self.answer = _rewritten(self.answer, step, write)

    def _without(self, dropped: str) -> tuple[list[JsonObject], Any] | None:
        """Return the changed steps and the answer without a step, or None if it cannot be dropped."""
        # What has succeeded stays in the plan as it is, with its references.
        if any(_waits_for(self.every_step[step], dropped) for step in self.succeeded):
            return None
        steps = []
        for fields in (fields for step, fields in self.steps.items() if step != dropped):
            old = {"args": fields.get("args", {}), "depends_on": fields.get("depends_on", [])}
            found = {name: _without_items(value, dropped) for name, value in _open_args(fields).items()}
            args = {**old["args"], **found}
            # A list that has lost its last item would have its step work on nothing.
            if _refers(found, dropped) or any(args[name] == [] != old["args"][name] for name in args):
                return None
            new = {"args": args, "depends_on": [before for before in old["depends_on"] if before != dropped]}
            if new != old:
                steps.append({**fields, **new})
        answer = self.answer
        if isinstance(answer, dict):
            answer = {key: value for key, value in answer.items() if not _refers(value, dropped)}
        return None if _refers(answer, dropped) or answer == {} else (steps, answer)

    def _results(self) -> Any:
        """Return an answer with the results of the succeeded steps that no other one depends on."""
        done = [Step.model_validate(self.every_step[step]) for step in self.succeeded]
        last = last_steps(waits_for(done)) if done else ()
        if len(last) == 1:
            return f"{{{last[0]}_result}}"
        return {step: f"{{{step}_result}}" for step in last} or "Nothing was done."


def with_more(step: JsonObject, name: str, source: str) -> JsonObject:
    """Return a step that takes the result of another one too, in the list that is its argument `name`."""
    args = step.get("args", {})
    given = args.get(name, [])
    items = [*(given if isinstance(given, list) else [given]), f"{{{source}_result}}"]
    return {**step, "args": {**args, name: items}}


def _waits_for(fields: JsonObject, step: str) -> bool:
    return step in fields.get("depends_on", []) or _refers(_open_args(fields), step)


def _open_args(fields: JsonObject) -> JsonObject:
    """Return the arguments that may contain references."""
    return {name: value for name, value in fields.get("args", {}).items() if name not in fields.get("literal", ())}


def _refers(value: Any, step: str) -> bool:
    return any(reference.step == step for reference in references_in(value))


def _without_items(value: Any, step: str) -> Any:
    """Return a list without the items that are just a reference to a step."""
    if not isinstance(value, list):
        return value
    return [item for item in value if not (isinstance(item, str) and _is_reference_to(step, pieces(item)))]


def _is_reference_to(step: str, parts: tuple[str | Reference, ...]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], Reference) and parts[0].step == step


def _rewritten(value: Any, step: str, write: Write) -> Any:
    """Return a value with each reference to a step replaced."""

    def of_text(text: str) -> str:
        parts = (write(part) if isinstance(part, Reference) and step in part.steps else part for part in pieces(text))
        return join_pieces(parts) if _refers(text, step) else text

    return with_texts(value, of_text)
