"""The table `[notify]` of the settings file: addresses, and the notices that each gets. Addresses are secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, create_model

from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.settings.settings_file import Table, TextOrVariable, settings_file
from planner_executor.graph.words.name_list import listed, right_name
from planner_executor.graph.words.tables import List, OpenTable, Says, Shape, Text, fault

KINDS = ("waits", "expires", "escalated", "failed", "ended")
"""That a run waits for a person, that its request is about to expire, that others may decide it too, that it ended with
less than it was to do (see `graph.record.run_status.is_failure`), or otherwise."""
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


def _with_host(url: str) -> str:
    address = Address("", url)
    if address.is_webhook and not address.has_host:
        raise fault("is not the address of a webhook; give https:// with a host and a path")
    return url


def _with_run(link: str) -> str:
    if "{run}" not in link:
        raise fault("has no {run}; write {run} where the name of the run belongs")
    return link


Url = Annotated[TextOrVariable, AfterValidator(_with_host)]
Names = Annotated[tuple[Text, ...], List, Says("must be a list of names of addresses")]


class Notify(OpenTable):
    """The table as it is written, without the names for each kind of notice."""

    addresses: Annotated[Mapping[str, Url], Shape("must be a table: a name for each address")] = {}
    secret: TextOrVariable = ""
    link: Annotated[TextOrVariable, AfterValidator(_with_run)] | None = None


def _addresses(table: Notify) -> Addresses:
    by_name = {name: Address(name, url) for name, url in table.addresses.items()}
    names = {kind: tuple(dict.fromkeys(getattr(table, kind))) for kind in KINDS}
    for kind, name in ((kind, name) for kind, of in names.items() for name in of if name not in by_name):
        raise fault(f"has {name[:40]!r}, which is no address; {right_name(name, by_name)}", kind)
    # Apprise signs nothing, so that only webhooks need a secret.
    if any(address.is_webhook for address in by_name.values()) and len(table.secret.encode()) < LEAST_SECRET:
        raise fault(f"must have at least {LEAST_SECRET} characters: webhooks are signed with it", "secret")
    return Addresses(by_name, names, table.secret.encode(), table.link)


def _acts(given: Addresses) -> list[str]:
    """Return what the table does, with the hosts of webhooks and no more of an address: addresses are secrets."""
    kinds = {name: [kind for kind in KINDS if name in given.names[kind]] for name in given.by_name}
    told = [f"{one.place}: {listed(kinds[name])}" for name, one in given.by_name.items()]
    found = [f"[notify] sends notices of runs to {receiver}" for receiver in told]
    if given.link is not None:
        found.append(f"[notify] puts links to {given.link} into notices")
    return [*found, "[notify] signs notices with its secret"] if given.secret else found


OF_KINDS: dict[str, Any] = dict.fromkeys(KINDS, (Names, ()))
WITH_KINDS: Any = create_model("WithKinds", __base__=Notify, **OF_KINDS)
NOTIFY: Table[Addresses] = Table("notify", Annotated[WITH_KINDS, AfterValidator(_addresses), Shape()], _acts)
