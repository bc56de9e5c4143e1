"""The model that plays a role, and those that stand in for it: every answer is asked for here."""

from dataclasses import dataclass, field

from graph.chat_models.answer import Answer, Attempt, settled, usage_of
from graph.chat_models.chat import Chat, Request
from graph.chat_models.retry import Clock
from graph.errors import ModelCallError


@dataclass(frozen=True)
class RoleModel:
    """Asks the first of its models; where that one fails for good, the next."""

    chats: tuple[Chat, ...]
    clock: Clock = field(default_factory=Clock, repr=False)

    @property
    def name(self) -> str:
        """How the first model is called in records."""
        return self.chats[0].name

    @property
    def provider(self) -> str:
        """Whose model the first one is; empty where something stands in for models, as in a replay."""
        return self.chats[0].provider if self.chats else ""

    @property
    def names(self) -> tuple[str, ...]:
        """How all that may answer are called."""
        return tuple(chat.name for chat in self.chats)

    @property
    def paid(self) -> tuple[str, ...]:
        """How those are called that may cost something."""
        return tuple(chat.name for chat in self.chats if not chat.is_free)

    async def ask(self, request: Request) -> Answer:
        """Return the answer; a request that may succeed later is repeated, a bounded number of times.

        Raises:
            ModelCallError: No model gave an answer.
        """
        attempts: list[Attempt] = []
        for chat in self.chats:
            answer = await self._asked(chat, request, attempts)
            if answer is not None:
                return answer
        raise ModelCallError(self.name, [attempt.to_json() for attempt in attempts])

    async def _asked(self, chat: Chat, request: Request, attempts: list[Attempt]) -> Answer | None:
        failed, without = 0, set(chat.refused)
        while True:
            try:
                said = await chat.once(request, without)
                answer = Answer(settled(said), chat.name, usage_of(list(request.messages), said), tuple(attempts))
                chat.refused.update(without)
                return answer
            except Exception as error:  # noqa: BLE001  (around a model call, where it becomes data)
                failure = chat.failure(error, self.clock.now())
            if dispensable := chat.dispensable(failure, request, without):
                without.add(dispensable)
                attempts.append(Attempt(chat.name, failure.kind, f"{failure}; asked again without {dispensable}"))
                continue
            failed += 1
            wait_s = None
            if failure.repeatable:
                wait_s = chat.patience.wait_s(failed, failure.retry_after_s, self.clock.jitter())
            attempts.append(Attempt(chat.name, failure.kind, str(failure), wait_s or 0.0))
            if wait_s is None:
                return None
            await self.clock.sleep(wait_s)
