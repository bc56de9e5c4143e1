"""Changes of runs become deliveries, and due deliveries are sent; by any process, at least once (decision 81).

The process that wrote an event does it right after the commit; `planner-executor work` does it for processes that died
before. Run, kind, time and address identify a delivery, so that nothing is added twice.
"""

import time
from collections.abc import Awaitable, Callable, Collection

from planner_executor.graph.errors import NoticeError
from planner_executor.graph.ledger.outbox import Delivery
from planner_executor.graph.ledger.run_store import RunStore
from planner_executor.graph.notices import apprise, webhook
from planner_executor.graph.notices.addresses import Address, Addresses
from planner_executor.graph.notices.lanes import Lanes, Try
from planner_executor.graph.notices.notice import content, notices_of, title
from planner_executor.graph.plan.backoff import doubled_s
from planner_executor.graph.record.run_key import RunKey
from planner_executor.graph.record.summary import RunSummary

LOOK_S = 1.0
"""How often new events are looked for while notices are on their way."""
FIRST_AGAIN_S, LONGEST_AGAIN_S = 30.0, 4 * 3_600.0
MOST_TRIES = 24
"""About three days with these waits; then the notice is given up."""
Send = Callable[[Address, Addresses, Delivery], Awaitable[None]]


def again_s(tries: int) -> float | None:
    """Return the seconds until the next try after so many that failed, None to give up.

    >>> again_s(1), again_s(4), again_s(24)
    (30.0, 240.0, None)
    """
    return None if tries >= MOST_TRIES else doubled_s(FIRST_AGAIN_S, tries, LONGEST_AGAIN_S)


async def look(ledger: RunStore, addresses: Addresses, also: Collection[RunKey] = ()) -> None:
    """Add the deliveries about all runs that have changed since the last look, and about those in `also`.

    The first look at a database adds those about `also` only: nobody wants a notice of every earlier run.
    """
    before = await ledger.outbox.looked_until()
    changed = await ledger.changes(before)
    # Nothing new, and nobody asks about a run of theirs.
    if changed.position == before and not also:
        return
    runs = await ledger.summaries([*{*changed.runs, *also}])
    found = [delivery for run in runs for delivery in deliveries_about(run, addresses)]
    # With the position in one transaction, or a look that dies in between would tell everybody twice or nobody.
    await ledger.outbox.add(found, changed.position)


def deliveries_about(run: RunSummary, addresses: Addresses) -> list[Delivery]:
    """Return the deliveries about a run as it stands."""
    key = RunKey(run.thread, run.n)
    return [
        Delivery(key, notice.kind, notice.since, notice.status, notice.asks, name)
        for notice in notices_of(run)
        for name in addresses.names[notice.kind]
    ]


def is_so(delivery: Delivery, runs: Collection[RunSummary]) -> bool:
    """Whether a delivery still says what is so, by its run as it stands; `runs` is empty if the run was removed."""
    now = {(notice.kind, notice.since) for run in runs for notice in notices_of(run)}
    return (delivery.kind, delivery.since) in now


async def tell(
    ledger: RunStore,
    addresses: Addresses,
    report: Callable[[str], None],
    new: Callable[[], Collection[RunKey]] = tuple,
    send: Send | None = None,
) -> None:
    """Look for what is new and send what is due, until nothing is on its way.

    Args:
        ledger: The ledger of the runs.
        addresses: Who is told.
        report: Gets a sentence for each try.
        new: Returns runs of this process with new events, each once.
        send: Sends one notice.
    """

    async def try_one(delivery: Delivery) -> Try:
        return await _tried(ledger, addresses, delivery, send or deliver)

    lanes = Lanes(ledger.outbox, addresses.by_name, try_one)
    try:
        await look(ledger, addresses, new())
        while await lanes.fill():
            for sentence in await lanes.ended(LOOK_S):
                report(sentence)
            # Runs go on while notices are on their way; what changed meanwhile is told in the same go.
            await look(ledger, addresses, new())
    # However it ends, no task outlives this call; what it had in hand is due again after a while.
    finally:
        await lanes.close()


async def deliver(address: Address, addresses: Addresses, delivery: Delivery) -> None:
    """Send one notice.

    Raises:
        NoticeError: It did not arrive.
    """
    link = addresses.link_to(delivery.run)
    if address.is_webhook:
        await webhook.send(address.url, addresses.secret, content(delivery, link), time.time())
    else:
        await apprise.send(address.url, title(delivery), link or title(delivery))


async def _tried(ledger: RunStore, addresses: Addresses, delivery: Delivery, send: Send) -> Try:
    # It may have waited for hours: a request that was decided since needs nobody.
    if not is_so(delivery, await ledger.summaries([delivery.run])):
        await ledger.outbox.drop(delivery)
        return Try(True, f"did not notify {delivery.address} that {title(delivery)}: it is no longer so")
    try:
        await send(addresses.by_name[delivery.address], addresses, delivery)
    except NoticeError as failure:
        wait_s = again_s(delivery.tries + 1)
        await ledger.outbox.settle(delivery, wait_s, str(failure))
        then = "it is given up" if wait_s is None else f"tried again in {wait_s:g} s"
        return Try(False, f"could not notify {delivery.address} that {title(delivery)}: {failure}; {then}")
    await ledger.outbox.settle(delivery, None)
    return Try(True, f"notified {delivery.address}: {title(delivery)}")
