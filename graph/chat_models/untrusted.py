"""What a settings file that nobody trusted may say of models: nothing that uses what is the user's.

Keys of the environment, money and the user's words are the user's. Such a file may say how a model is asked, name the
embedded rules, or a server on this machine that is given no key of the environment.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from graph.chat_models.settings import OFFLINE, SAMPLING, ModelSettings, Said

OF_ONE_SERVER = ("default_headers", "default_query", "extra_body")
"""Options that change what a server is sent; another server is not reached by them."""


def acts_of(layer: Mapping[str, Said]) -> list[str]:
    """Return what a layer would do that needs the user's trust, in words: one act of a model each."""
    entries = [(f"models.{role}", said) for role, said in layer.items() if isinstance(said, ModelSettings)]
    entries += [(f"{of}.fallbacks", fallback) for of, said in entries for fallback in said.fallbacks]
    return [act for of, said in entries if (act := _act(of, said)) is not None]


def _act(of: str, said: ModelSettings) -> str | None:
    if said.api_key_env:
        return f"{of} sends the variable {said.api_key_env} to {said.base_url or 'the server of its model'}"
    if said.base_url and not _is_here(said.base_url):
        return f"{of} sends what the model is asked to {said.base_url}"
    if said.model and said.model != OFFLINE and not said.base_url:
        return f"{of} asks {said.model} with your key"
    if said.base_url and not (said.model or "").startswith(("openai:", "openai/")):
        return f"{of} sends what another model is asked to {said.base_url}"
    if said.api_key is not None and not said.base_url:
        return f"{of} gives a key of its own to the server of your model"
    allowed = (*SAMPLING, *OF_ONE_SERVER) if said.base_url else SAMPLING
    if other := [name for name in said.options if name not in allowed]:
        return f"{of} sets the option {other[0]}, which may lead elsewhere"
    return None


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
