"""What is left of a plan, as a revision changes it: steps kept, replaced and dropped."""

from collections.abc import Callable, Mapping
from typing import Any

from graph.chat_models.offline.prompt_document import Asked
from graph.plan.lookalikes import lookalikes_in
from graph.plan.references import Reference, escape, join_pieces, pieces, references_in
from graph.plan.schedule import last_steps, waits_for
from graph.plan.schema import Step

JsonObject = dict[str, Any]
Write = Callable[[Reference], Reference | str]


class NoOtherWay(Exception):
    """The rules cannot go on; the message says why."""


class Remaining:
    """The steps that have not succeeded, by id, and the answer; changes are noted."""

    def __init__(self, asked: Asked) -> None:
        plan = asked.document["plan"]
        shown: Mapping[str, JsonObject] = asked.document.get("results", {})
        errors: Mapping[str, Any] = asked.document.get("failed", {})
        self.asked = asked
        self._shown = shown
        self.every_step: dict[str, JsonObject] = {step["id"]: step for step in plan["steps"]}
        self.status = {step: shown.get(step, {}).get("status", "pending") for step in self.every_step}
        self.succeeded = [step for step, status in self.status.items() if status == "succeeded"]
        self.steps = {step: fields for step, fields in self.every_step.items() if step not in self.succeeded}
        self.failed = {step: str(errors[step] or "no reason given") for step in self.steps if step in errors}
        self.answer = plan.get("answer")
        self._changed: list[str] = []
        self._old_answer = self.answer

    def failed_calls(self, tool: str) -> list[JsonObject]:
        """Return the failed steps that called a tool."""
        return [self.steps[step] for step in self.failed if step in self.steps and self.tool(step) == tool]

    def tool(self, step: str) -> str | None:
        """Return the tool of a deterministic step."""
        return self.every_step[step].get("tool")

    def preview(self, step: str) -> str:
        """Return the beginning of a succeeded step's result, as JSON text."""
        return str(self._shown.get(step, {}).get("preview", ""))

    def give(self, step: JsonObject) -> None:
        """Put a step in the place of the one with its id, or add it."""
        self.steps[step["id"]] = step
        if step["id"] not in self._changed:
            self._changed.append(step["id"])

    def note(self, words: str) -> None:
        """Say something with the answer, where it has room for it."""
        if isinstance(self.answer, dict):
            before = self.answer.get("note")
            self.answer = {**self.answer, "note": f"{before}; {words}" if isinstance(before, str) else words}

    def new_id(self) -> str:
        """Return an id that no step has."""
        taken = {*self.every_step, *self.steps}
        return next(
            name for name in (f"step_{n}" for n in range(len(taken) + 1, 2 * len(taken) + 2)) if name not in taken
        )

    def can_drop(self, step: str) -> bool:
        """Whether the rest of the plan makes sense without a step."""
        return self._without(step) is not None

    def drop(self, step: str) -> None:
        """Leave a step out, and what refers to it in lists and in the answer.

        Raises:
            NoOtherWay: Another step or the answer needs it.
        """
        left = self._without(step)
        if left is None:
            raise NoOtherWay(f"the rest of the plan needs {step}")
        steps, self.answer = left
        if step in self.failed:
            self.note(f"left out, since it failed: {self._words_for(step)}")
        del self.steps[step]
        for fields in steps:
            self.give(fields)

    def exchange(self, step: str, new: JsonObject) -> None:
        """Put a step of another id in the place of one: whatever refers to the old one refers to the new one."""
        self.give({**new, "replaces": step} if step in self.failed else new)
        self.redirect(step, new["id"])
        del self.steps[step]

    def redirect(self, step: str, to: str) -> None:
        """Let what is left refer to another step's result instead."""
        self._rewrite(step, lambda found: Reference(to, found.path))
        for name, fields in list(self.steps.items()):
            if step in fields.get("depends_on", []):
                depends_on = [to if before == step else before for before in fields["depends_on"]]
                self.give({**self.steps[name], "depends_on": depends_on})

    def say_instead(self, step: str, words: str) -> None:
        """Leave a step out, and say some words wherever its result would stand in a text.

        Raises:
            NoOtherWay: Another step or the answer needs it.
        """
        self._rewrite(step, lambda _: words)
        self.drop(step)

    def end_with(self, answer: Any) -> None:
        """Drop all that is left, and answer with what there is."""
        self.steps, self.answer = {}, answer

    def refers_to_parts_of(self, step: str) -> bool:
        """Whether anything left uses a part of a step's result, and so depends on its shape."""
        values = [*map(_open_args, self.steps.values()), self.answer]
        return any(reference.step == step and reference.path for value in values for reference in references_in(value))

    def revision(self) -> JsonObject:
        """Return the revision; where nothing is left to run, it is the answer."""
        keep = [step for step in self.steps if step not in self._changed]
        revision: JsonObject = {"keep": keep} if keep else {}
        revision["steps"] = [self.steps[step] for step in self._changed if step in self.steps]
        if self.answer != self._old_answer or not self.steps:
            revision["answer"] = self.answer if self.answer is not None else self._results()
        return revision

    def _words_for(self, step: str) -> str:
        """Return what a step was to do, or its id if words in it look like a reference, which no answer may hold."""
        objective = escape(str(self.steps[step].get("objective", step)))
        return step if any(lookalikes_in(objective, self.every_step)) else objective

    def _rewrite(self, step: str, write: Write) -> None:
        for name, fields in list(self.steps.items()):
            if name != step and _refers(_open_args(fields), step):
                self.give({**fields, "args": {**fields["args"], **_rewritten(_open_args(fields), step, write)}})
        self.answer = _rewritten(self.answer, step, write)

    def _without(self, dropped: str) -> tuple[list[JsonObject], Any] | None:
        """Return the steps that change and the answer when one step is left out, or None where that cannot be."""
        if any(_waits_for(self.every_step[step], dropped) for step in self.succeeded):
            return None
        steps = []
        for fields in (fields for step, fields in self.steps.items() if step != dropped):
            old = {"args": fields.get("args", {}), "depends_on": fields.get("depends_on", [])}
            found = {name: _without_items(value, dropped) for name, value in _open_args(fields).items()}
            args = {**old["args"], **found}
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
        """Return an answer that refers to the results that nothing else waits for."""
        done = [Step.model_validate(self.every_step[step]) for step in self.succeeded]
        last = last_steps(waits_for(done)) if done else ()
        if len(last) == 1:
            return f"{{{last[0]}_result}}"
        return {step: f"{{{step}_result}}" for step in last} or "Nothing was done."


def _waits_for(fields: JsonObject, step: str) -> bool:
    return step in fields.get("depends_on", []) or _refers(_open_args(fields), step)


def _open_args(fields: JsonObject) -> JsonObject:
    """Return the arguments that may hold references."""
    return {name: value for name, value in fields.get("args", {}).items() if name not in fields.get("literal", ())}


def _refers(value: Any, step: str) -> bool:
    return any(reference.step == step for reference in references_in(value))


def _without_items(value: Any, step: str) -> Any:
    """Return a list without the items that are nothing but a reference to a step."""
    if not isinstance(value, list):
        return value
    return [item for item in value if not (isinstance(item, str) and _is_reference_to(step, pieces(item)))]


def _is_reference_to(step: str, parts: tuple[str | Reference, ...]) -> bool:
    return len(parts) == 1 and isinstance(parts[0], Reference) and parts[0].step == step


def _rewritten(value: Any, step: str, write: Write) -> Any:
    """Return a value with each reference to a step written anew; all else stays as it is."""
    if isinstance(value, dict):
        return {key: _rewritten(item, step, write) for key, item in value.items()}
    if isinstance(value, list):
        return [_rewritten(item, step, write) for item in value]
    if not isinstance(value, str) or not _refers(value, step):
        return value
    return join_pieces(
        write(part) if isinstance(part, Reference) and part.step == step else part for part in pieces(value)
    )
