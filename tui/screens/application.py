"""The interface that screens need of the application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from store.config.configuration import Config
    from tui.workers.model_worker import ModelWorker


class Application(Protocol):
    """The application, as its screens see it."""

    config: Config
    modeller: ModelWorker

    @property
    def resting(self) -> bool: ...
    def configure_again(self) -> None: ...
    def hold_keys(self) -> None: ...
    def release_keys(self) -> None: ...
