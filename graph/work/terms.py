"""Whether a worker has the tools, models and settings that a run was started with, or what it lacks (decision 65)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graph.context import Services
from graph.ledger.protocol import Ledger
from graph.ledger.values import content_value
from graph.name_list import listed
from graph.record.events import Configuration
from graph.record.values import to_text
from graph.settings import current_settings

VALUE_CHARACTERS = 40


async def lacking(services: Services, ledger: Ledger, recorded: Configuration) -> str | None:
    """Return what differs from the configuration on record, or None if it is the same."""
    if services.is_configured_as(recorded):
        return None
    current, tools = services.configuration
    before = await content_value(ledger, recorded.tools) or []
    found = [*_tools(before, tools.value), *_models(recorded, current), *_settings(recorded, current)]
    return "; ".join(found) or "its configuration is of an earlier release; continue it with resume"


def _tools(recorded: Sequence[Mapping[str, Any]], current: Any) -> Iterator[str]:
    before, now = ({tool["name"]: tool for tool in tools} for tools in (recorded, current))
    if missing := [name for name in before if name not in now]:
        yield f"needs {listed(missing)}: name {'it' if len(missing) == 1 else 'them'} with --tools or --mcp"
    if changed := [name for name in before if name in now and before[name] != now[name]]:
        yield f"{listed(changed)} {'has' if len(changed) == 1 else 'have'} changed"
    if more := [name for name in now if name not in before]:
        yield f"was begun without {listed(more)}"


def _models(recorded: Configuration, current: Configuration) -> Iterator[str]:
    for kind, before, now in (
        ("role", recorded.models, current.models),
        ("executor", recorded.executors, current.executors),
    ):
        for name in dict.fromkeys((*before, *now)):
            if before.get(name) != now.get(name):
                yield f"{kind} {name}: needs {_shown(before.get(name))}, here is {_shown(now.get(name))}"


def _settings(recorded: Configuration, current: Configuration) -> Iterator[str]:
    before = current_settings(recorded.settings)
    for name, value in current.settings.items():
        if before.get(name) != value:
            yield f"{name}: needs {_shown(before.get(name))}, here is {_shown(value)}"


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    words = [value] if isinstance(value, str) else value
    text = " then ".join(map(str, words)) if isinstance(words, list | tuple) else to_text(words)
    return text if len(text) <= VALUE_CHARACTERS else "another one"
