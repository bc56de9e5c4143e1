"""The environment variables of a role, such as PLANNER_EXECUTOR_PLANNER_BASE_URL."""

from typing import Any

from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from planner_executor.graph.chat_models.settings import ModelSettings
from planner_executor.graph.errors import ConfigError


class _Variables(ModelSettings, BaseSettings):
    model_config = SettingsConfigDict(defer_build=True, env_ignore_empty=True, extra="ignore")


def settings_in_variables(prefix: str) -> dict[str, Any]:
    """Return the settings in variables with this prefix.

    Raises:
        ConfigError: A variable holds no JSON where JSON is needed.
        ValidationError: A setting has an invalid value.
    """
    try:
        return _Variables(_env_prefix=prefix).explicit  # type: ignore[call-arg]  # an argument of BaseSettings
    except SettingsError as error:
        raise ConfigError(f"{prefix}…: {error}; write objects and lists as JSON") from None
