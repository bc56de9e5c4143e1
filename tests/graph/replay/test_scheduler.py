"""Outcomes of calls, each in its turn."""

import asyncio
from collections.abc import Sequence
from typing import Any

from planner_executor.graph.ledger.transcript import Transcript
from planner_executor.graph.record.events import Draft, Event
from planner_executor.graph.replay.playback import Playback
from planner_executor.graph.replay.recording import Recording
from planner_executor.graph.replay.scheduler import Scheduler
from planner_executor.graph.testing import drafted

ASKED: tuple[str, dict[str, Any]] = ("model_started", {"key": "m", "role": "executor", "prompt_digest": "d"})
ANSWERED: tuple[str, dict[str, Any]] = ("model_finished", {"key": "m", "role": "executor"})
STEPS = {"model_started": "a", "model_finished": "a", "step_finished": "late"}
EXECUTING: tuple[str, dict[str, Any]] = ("executing", {})


def asked() -> Draft:
    return Draft(drafted(*ASKED).data, "a")


def scheduler_of(told: Sequence[tuple[str, dict[str, Any]]]) -> tuple[Scheduler, Playback, Recording]:
    events = [
        Event.written(seq, 0.0, Draft(drafted(kind, payload).data, STEPS.get(kind)))
        for seq, (kind, payload) in enumerate(told, 1)
    ]
    recording = Recording(events)
    playback = Playback(Transcript("t", 1, [], 0), recording, may_differ=False)
    return Scheduler(recording, playback), playback, recording


async def test_a_model_that_was_asked_as_its_process_died_answers_whoever_asks_it_again() -> None:
    scheduler, playback, recording = scheduler_of([ASKED, EXECUTING, ASKED, ANSWERED])
    playback.write([asked()], ())  # and no further

    async def ask() -> Event:
        playback.write([drafted("executing")], ())
        playback.write([asked()], ())
        return await scheduler.outcome_of_prompt("d")

    asking = asyncio.create_task(ask())
    await scheduler.conduct(asking, lambda: False)
    answer, count = (await asking, recording.count)

    assert (answer.seq, count) == (4, 3)


def test_who_writes_goes_on_once_the_outcome_that_comes_next_has_arrived() -> None:
    order: list[str] = []

    async def work(late: frozenset[int]) -> None:
        _, playback, recording = scheduler_of([EXECUTING, ASKED, EXECUTING, ANSWERED])
        scheduler = Scheduler(recording, playback, late)
        recording.play([0])

        async def ask() -> None:
            playback.write([asked()], ())
            await scheduler.outcome_of_prompt("d")
            order.append("answered")

        async def drive() -> None:
            asking = asyncio.create_task(ask())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            last = drafted("executing")
            playback.write([last], ())
            await scheduler.in_turn(last)
            order.append("goes on")
            await asking

        driving = asyncio.create_task(drive())
        await scheduler.conduct(driving, lambda: False)
        await driving

    asyncio.run(work(frozenset()))
    asyncio.run(work(frozenset({3})))

    assert order == ["answered", "goes on", "goes on", "answered"]


async def test_a_message_is_heeded_after_all_else_that_can_happen() -> None:
    order: list[str] = []

    scheduler, playback, recording = scheduler_of([EXECUTING, ASKED, ANSWERED])
    recording.play([0])

    async def heed() -> None:
        await scheduler.after_others()
        order.append("heeded")

    async def ask() -> None:
        playback.write([asked()], ())
        await scheduler.outcome_of_prompt("d")
        order.append("answered")

    both = asyncio.ensure_future(asyncio.gather(heed(), ask()))
    await scheduler.conduct(both, lambda: False)  # type: ignore[arg-type]
    await both

    assert order == ["answered", "heeded"]


async def test_a_step_is_cut_off_before_a_later_outcome_is_given() -> None:
    order: list[str] = []
    late = ("step_finished", {"status": "failed", "error": "the step did not end within 5 s"})

    scheduler, playback, recording = scheduler_of([EXECUTING, ASKED, late, ANSWERED])
    recording.play([0])

    async def ends() -> None:
        await scheduler.step_over("late", 5)
        order.append("cut off")
        recording.play([2])

    async def ask() -> None:
        playback.write([asked()], ())
        await scheduler.outcome_of_prompt("d")
        order.append("answered")

    both = asyncio.ensure_future(asyncio.gather(ends(), ask()))
    await scheduler.conduct(both, lambda: False)  # type: ignore[arg-type]
    await both

    assert order == ["cut off", "answered"]


async def test_a_step_that_is_over_its_limit_is_not_kept_from_its_next_turn_by_an_earlier_one() -> None:
    late = ("step_finished", {"status": "failed", "error": "the step did not end within 5 s"})

    scheduler, _, recording = scheduler_of([EXECUTING, late])
    recording.play([0])
    watch = asyncio.create_task(scheduler.step_over("late", 5))
    await asyncio.sleep(0)
    watch.cancel()
    await asyncio.wait([watch])
    await scheduler.in_turn(Draft(drafted("step_checked").data, "late"))
