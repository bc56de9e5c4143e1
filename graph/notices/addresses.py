"""The table `[notify]` of the settings file: addresses, and the notices that each gets. Addresses are secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from planner_executor.graph.errors import ConfigError
from planner_executor.graph.ledger.protocol import RunKey
from planner_executor.graph.notices.notice import KINDS
from planner_executor.graph.settings.settings_file import Table, settings_file, text_or_variable
from planner_executor.graph.words.name_list import listed

FIELDS = ("addresses", "secret", "link", *KINDS)
WEBHOOKS = ("https", "http")
LEAST_SECRET = 16


@dataclass(frozen=True)
class Address:
    """The address of a webhook, or one for Apprise, such as `mailto://...`."""

    name: str
    url: str = field(repr=False)

    @property
    def is_webhook(self) -> bool:
        """Whether it gets the notice as signed JSON; Apprise sends to all others."""
        return self.url.partition(":")[0].strip().lower() in WEBHOOKS

    @property
    def place(self) -> str:
        """Its name, and the kind or host of the receiver."""
        kind = self.url.partition(":")[0].strip()
        return f"{self.name} ({kind}{f'://{urlsplit(self.url).hostname}' if self.is_webhook else ''})"

    @property
    def has_host(self) -> bool:
        """Whether a webhook's address has a host and, if it names one, a port."""
        try:
            split = urlsplit(self.url)
            return bool(split.hostname) and split.port != 0
        except ValueError:  # such as a port beyond 65535 or half of an IPv6 address
            return False


@dataclass(frozen=True)
class Addresses:
    """Addresses by name, the names for each kind of notice, the secret of webhooks, and the link to a run."""

    by_name: Mapping[str, Address]
    names: Mapping[str, tuple[str, ...]]
    secret: bytes = field(default=b"", repr=False)
    link: str | None = None

    def link_to(self, run: RunKey) -> str | None:
        """Return the address of a run's review; who opens it still has to log in there."""
        return self.link and self.link.replace("{run}", quote(run.id, safe=""))


def addresses_of(config: str | Path | None = None) -> Addresses | None:
    """Return the addresses of the settings file, None if it names none.

    Raises:
        ConfigError: The table is invalid, or its file is neither named nor trusted.
    """
    return NOTIFY.value_in(settings_file(config))


def _read(table: Any) -> Addresses:
    if not isinstance(table, dict):
        raise ConfigError("[notify] must be a table")
    if unknown := [name for name in table if name not in FIELDS]:
        raise ConfigError(f"notify.{unknown[0]} is unknown; there are {listed(FIELDS)}")
    given = table.get("addresses", {})
    if not isinstance(given, dict):
        raise ConfigError("notify.addresses must be a table: a name for each address")
    by_name = {name: Address(name, text_or_variable(url, f"notify.addresses.{name}")) for name, url in given.items()}
    names = {kind: _names(table.get(kind, []), kind, by_name) for kind in KINDS}
    secret = table.get("secret")
    key = text_or_variable(secret, "notify.secret").encode() if secret is not None else b""
    if broken := [one.name for one in by_name.values() if one.is_webhook and not one.has_host]:
        raise ConfigError(
            f"notify.addresses.{broken[0]} is not the address of a webhook; give https:// with a host and a path"
        )
    link = text_or_variable(table["link"], "notify.link") if "link" in table else None
    if any(address.is_webhook for address in by_name.values()) and len(key) < LEAST_SECRET:
        raise ConfigError(f"notify.secret must have at least {LEAST_SECRET} characters: webhooks are signed with it")
    if link is not None and "{run}" not in link:
        raise ConfigError("notify.link has no {run}; write {run} where the name of the run belongs")
    return Addresses(by_name, names, key, link)


def _names(given: Any, kind: str, known: Mapping[str, Address]) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
        raise ConfigError(f"notify.{kind} must be a list of names of addresses")
    if unknown := [name for name in given if name not in known]:
        raise ConfigError(f"notify.{kind}: there is no address {unknown[0][:40]!r}; there are {listed(sorted(known))}")
    return tuple(dict.fromkeys(given))


def _acts(table: Any) -> list[str]:
    """Return what the table does, with the hosts of webhooks and no more of an address: addresses are secrets."""
    given = _read(table)
    kinds = {name: [kind for kind in KINDS if name in given.names[kind]] for name in given.by_name}
    told = [f"{one.place}: {listed(kinds[name])}" for name, one in given.by_name.items()]
    found = [f"[notify] sends notices of runs to {receiver}" for receiver in told]
    if given.link is not None:
        found.append(f"[notify] puts links to {given.link} into notices")
    return [*found, "[notify] signs notices with its secret"] if given.secret else found


NOTIFY: Table[Addresses] = Table("notify", _read, _acts)
