"""Model settings that need the user's trust if they come from a file (decision 0021).

An untrusted file must not use the user's keys or money or send the user's text elsewhere. It may set sampling options
and name the embedded rules or a server on this machine that gets no key from the environment.
"""

from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from planner_executor.graph.chat_models.settings import OFFLINE, SAMPLING, ModelSettings, ModelSource

SERVER_OPTIONS = ("default_headers", "default_query", "extra_body")
"""Options that change the request, but not the server that it is sent to."""


def acts_needing_trust(layer: Mapping[str, ModelSource]) -> list[str]:
    """Return descriptions of everything in a layer that needs the user's trust."""
    entries = [(f"models.{role}", settings) for role, settings in layer.items() if isinstance(settings, ModelSettings)]
    entries += [(f"{of}.fallbacks", fallback) for of, settings in entries for fallback in settings.fallbacks]
    return [f"{of} {act}" for of, settings in entries for act in _acts(settings)]


def _acts(settings: ModelSettings) -> Iterator[str]:
    if settings.api_key_env:
        yield f"sends the variable {settings.api_key_env} to {settings.base_url or 'the server of its model'}"
    if settings.base_url and not _is_here(settings.base_url):
        yield f"sends prompts to {settings.base_url}"
    if settings.model and settings.model != OFFLINE and not settings.base_url:
        yield f"asks {settings.model} with your key"
    # Without a key of its own only OpenAI's package is given a stand-in; another may send that of the environment.
    if settings.base_url and not (settings.model or "").startswith(("openai:", "openai/")):
        yield f"sends prompts for another provider to {settings.base_url}"
    if settings.api_key is not None and not settings.base_url:
        yield "sends its own key to the server of your model"
    allowed = (*SAMPLING, *SERVER_OPTIONS) if settings.base_url else SAMPLING
    others = [name for name in settings.options if name not in allowed]
    yield from (f"sets the option {name}, which may redirect requests" for name in others)


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
