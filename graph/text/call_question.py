"""What a call asks in its middle, as people read it."""

from collections.abc import Mapping
from typing import Any

from planner_executor.graph.plain_text.sanitize import escaped, margined, one_line, visible
from planner_executor.graph.record.values import to_text
from planner_executor.graph.review.call_form import DECLINED
from planner_executor.graph.review.content import QuestionContent


def asked_description(content: QuestionContent, asked: Mapping[str, Any]) -> str:
    """Return the question of a call: who asks, the words, and each field of the form."""
    schema: Any = content.answer
    fields = "\n".join(_fields(schema))
    return (
        f"{escaped(content.step)} has called {escaped(str(content.tool))}, which asks you in the middle of the call:\n"
        f"{margined(asked['question'])}\n"
        f"Fill in answer:\n{fields}\n"
        "These are words of the tool's server: give nothing that it need not know. "
        f"The answer {DECLINED!r} tells it that you do not answer. Reject with a reason to have the step planned again."
    )


def _fields(schema: Mapping[str, Any], within: str = "") -> list[str]:
    required = schema.get("required", ())
    told: list[str] = []
    for name, field in schema["properties"].items():
        if field["type"] == "object":
            told += _fields(field, f"{within}{name}.")
            continue
        kind = f"one of {visible(to_text(field['enum']))}" if "enum" in field else str(field["type"])
        words = one_line(str(field.get("description") or field.get("title") or ""), 200)
        need = "" if name in required else ", may be left out"
        told.append(f"- {escaped(within + name)} ({kind}{need}){': ' + words if words else ''}")
    return told
