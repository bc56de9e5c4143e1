"""Hosts that an operator allows for `http_get` and `http_send`, with methods and headers."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import httpx

from planner_executor.tools.errors import ConfigInvalid, UrlRefused
from planner_executor.tools.url_display import display_url
from planner_executor.tools.web.addresses import Address, kind_of
from planner_executor.tools.web.guard import leading, port_of
from planner_executor.tools.web.urls import checked_url, host_of

Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
METHODS: tuple[Method, ...] = get_args(Method)
READING: tuple[Method, ...] = ("GET", "HEAD")
SENDING: tuple[Method, ...] = ("POST", "PUT", "PATCH", "DELETE")
HIDDEN = "[hidden]"
VARIABLE = "PLANNER_EXECUTOR_HTTP_HOSTS"

_LOCAL = {"public", "private", "loopback", "shared"}
_SHORTEST_SECRET = 8
_NAME = re.compile(r"[A-Za-z0-9-]+")
_VALUE = re.compile(r"[!-~]+( +[!-~]+)*")


@dataclass(frozen=True)
class AllowedHost:
    """One origin that requests may go to.

    A host that is named may be in a private network or on this machine; one that a `*` stands for may not.

    Args:
        origin: Such as `https://api.example.org`, `http://localhost:8080`, or `https://*.example.org` for every host
            below a domain.
        methods: The methods that may be used.
        headers: Sent to this origin only, and never shown: the place for a key.

    Raises:
        ConfigInvalid: The origin is not one, or a method is unknown.
    """

    origin: str
    methods: Sequence[Method] = READING
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.origin, str):
            raise _invalid(repr(self.origin), "it is no text")
        if unknown := [method for method in self.methods if method not in METHODS]:
            raise _invalid(self.origin, f"the method {unknown[0]!r} is unknown; use {', '.join(METHODS)}")
        if not self.methods:
            raise _invalid(self.origin, "it allows no method")
        if self.url.raw_path != b"/":
            raise _invalid(self.origin, "it holds a path")
        for name, value in self.headers.items():
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                raise _invalid(self.origin, f"its header {name!r} has a name or a value that HTTP does not allow")

    @cached_property
    def url(self) -> httpx.URL:
        """The origin; of a wildcard, the domain."""
        try:
            return checked_url(self.origin.replace("://*.", "://", 1))
        except UrlRefused as refusal:
            raise _invalid(self.origin, refusal.reason) from refusal

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for every host below a domain, and not for the domain."""
        return "://*." in self.origin

    def covers(self, url: httpx.URL) -> bool:
        """Whether a URL is at this origin."""
        if (url.scheme, port_of(url)) != (self.url.scheme, port_of(self.url)):
            return False
        host, named = host_of(url), host_of(self.url)
        return host.endswith(f".{named}") if self.is_wildcard else host == named

    def without_secrets(self, text: str) -> str:
        """Return a text without the values of the headers, whole or word by word."""
        for value in self.headers.values():
            for secret in (value, *value.split()):
                if len(secret) >= _SHORTEST_SECRET:
                    text = text.replace(secret, HIDDEN)
        return text

    def __str__(self) -> str:
        return f"{self.origin} ({', '.join(self.methods)})"


def _invalid(origin: str, reason: str) -> ConfigInvalid:
    return ConfigInvalid(f"allowed host {display_url(origin)!r}", f"{reason}; write it like 'https://api.example.org'")


@dataclass(frozen=True)
class AllowList:
    """The allowed origins; the first that covers a URL counts."""

    hosts: tuple[AllowedHost, ...]

    def entry(self, url: httpx.URL, method: Method) -> AllowedHost:
        """Return the entry that allows a request.

        Raises:
            UrlRefused: None does.
        """
        covering = [host for host in self.hosts if host.covers(url)]
        if not covering:
            raise UrlRefused(str(url), f"its host is not allowed; allowed are {self}")
        if method not in covering[0].methods:
            raise UrlRefused(str(url), f"{method} is not allowed there; allowed are {self}")
        return covering[0]

    def rule(self, host: str, address: Address, port: int) -> str | None:
        """Return why an address must not be connected to for an allowed host, or None.

        A metadata service, or another address that is nobody's, has to be named as an address.
        """
        named = {(host_of(entry.url), port_of(entry.url)) for entry in self.hosts if not entry.is_wildcard}
        is_named, kind = (host, port) in named, kind_of(address)
        # An address that an entry writes out was chosen by the operator, whatever its kind.
        if is_named and str(address) == host:
            return None
        if kind == "public" or (is_named and kind in _LOCAL):
            return None
        return f"{leading(host, address)} a {kind} address, which its entry does not allow"

    def allowing(self, methods: Sequence[Method]) -> "AllowList":
        """Return the hosts that allow one of these methods."""
        return AllowList(tuple(host for host in self.hosts if set(host.methods) & set(methods)))

    def without_secrets(self, text: str) -> str:
        """Return a text without the values of any host's headers."""
        for host in self.hosts:
            text = host.without_secrets(text)
        return text

    def __str__(self) -> str:
        return ", ".join(map(str, self.hosts))


def hosts_from_environment() -> tuple[AllowedHost, ...]:
    """Return the hosts in PLANNER_EXECUTOR_HTTP_HOSTS: origins separated by spaces, optionally after `METHODS=`.

    `https://api.example.org GET,POST=http://localhost:8080` allows reading at the first, and POST at the second.

    Raises:
        ConfigInvalid: An entry is invalid.
    """
    return tuple(_read(entry) for entry in os.environ.get(VARIABLE, "").split())


def _read(entry: str) -> AllowedHost:
    methods, equals, origin = entry.partition("=")
    if not equals:
        return AllowedHost(entry)
    return AllowedHost(origin, tuple(methods.upper().split(",")))  # type: ignore[arg-type]  # checked there
