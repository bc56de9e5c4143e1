"""The model of a role with its fallbacks; every model request goes through it."""

from dataclasses import dataclass, field

from planner_executor.graph.chat_models.answer import FailedRequest, ModelAnswer, recordable, usage_of
from planner_executor.graph.chat_models.chat import Chat, ModelRequest
from planner_executor.graph.chat_models.failures import drop_frames
from planner_executor.graph.chat_models.retry import Clock
from planner_executor.graph.errors import ModelCallError


@dataclass(frozen=True)
class RoleModel:
    """Asks its first model, and the next one if that fails permanently."""

    chats: tuple[Chat, ...]
    clock: Clock = field(default_factory=Clock, repr=False)

    @property
    def name(self) -> str:
        """Name of the first model, used in records."""
        return self.chats[0].name

    @property
    def may_take_pictures(self) -> bool:
        """Whether the first model takes pictures; unknown, as of most local servers, means that it is tried."""
        if not self.chats:
            return True
        said = (getattr(self.chats[0].model, "profile", None) or {}).get("image_inputs", True)
        return bool(said) and not self.chats[0].is_free

    @property
    def provider(self) -> str:
        """Provider of the first model; empty in a replay."""
        return self.chats[0].provider if self.chats else ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the model and its fallbacks."""
        return tuple(chat.name for chat in self.chats)

    @property
    def paid(self) -> tuple[str, ...]:
        """Names of the models that may cost money."""
        return tuple(chat.name for chat in self.chats if not chat.is_free)

    async def ask(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer, retrying within each model's policy.

        Raises:
            ModelCallError: All models failed.
        """
        attempts: list[FailedRequest] = []
        for chat in self.chats:
            answer = await self._ask_chat(chat, request, attempts)
            if answer is not None:
                return answer
        raise ModelCallError(self.name, [attempt.to_json() for attempt in attempts])

    async def _ask_chat(self, chat: Chat, request: ModelRequest, attempts: list[FailedRequest]) -> ModelAnswer | None:
        # A copy: a feature counts as refused for all once a request without it has worked.
        failed, without = 0, set(chat.refused)
        while True:
            try:
                message = await chat.once(request, without)
                answer = ModelAnswer(
                    recordable(message), chat.name, usage_of(list(request.messages), message), tuple(attempts)
                )
                chat.refused.update(without)  # only now is it certain that these features were the cause
                return answer
            except Exception as error:  # noqa: BLE001  (around a model call, where it becomes data)
                failure = chat.failure(error, self.clock.now())
                drop_frames(error)
            if dispensable := chat.dispensable(failure, request, without):
                without.add(dispensable)
                attempts.append(FailedRequest(chat.name, failure.kind, f"{failure}; repeated without {dispensable}"))
                continue
            failed += 1
            wait_s = None
            if failure.repeatable:
                wait_s = chat.retry_policy.wait_s(failed, failure.retry_after_s, self.clock.jitter())
            attempts.append(FailedRequest(chat.name, failure.kind, str(failure), wait_s or 0.0))
            if wait_s is None:
                return None
            await self.clock.sleep(wait_s)
