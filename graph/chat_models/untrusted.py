"""Model settings that need the user's trust if they come from a file (decision 0021).

An untrusted file must not use the user's keys or money or send the user's text elsewhere. It may set sampling options
and name the embedded rules or a server on this machine that gets no key from the environment.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from graph.chat_models.settings import OFFLINE, SAMPLING, ModelSettings, ModelSource

SERVER_OPTIONS = ("default_headers", "default_query", "extra_body")
"""Options that change the request, but not the server that it is sent to."""


def acts_needing_trust(layer: Mapping[str, ModelSource]) -> list[str]:
    """Return descriptions of everything in a layer that needs the user's trust, at most one per model."""
    entries = [(f"models.{role}", said) for role, said in layer.items() if isinstance(said, ModelSettings)]
    entries += [(f"{of}.fallbacks", fallback) for of, said in entries for fallback in said.fallbacks]
    return [act for of, said in entries if (act := _act(of, said)) is not None]


def _act(of: str, said: ModelSettings) -> str | None:
    if said.api_key_env:
        return f"{of} sends the variable {said.api_key_env} to {said.base_url or 'the server of its model'}"
    if said.base_url and not _is_here(said.base_url):
        return f"{of} sends prompts to {said.base_url}"
    if said.model and said.model != OFFLINE and not said.base_url:
        return f"{of} asks {said.model} with your key"
    if said.base_url and not (said.model or "").startswith(("openai:", "openai/")):
        return f"{of} sends prompts for another provider to {said.base_url}"
    if said.api_key is not None and not said.base_url:
        return f"{of} sends its own key to the server of your model"
    allowed = (*SAMPLING, *SERVER_OPTIONS) if said.base_url else SAMPLING
    if other := [name for name in said.options if name not in allowed]:
        return f"{of} sets the option {other[0]}, which may redirect requests"
    return None


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
