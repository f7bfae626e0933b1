"""The palette: every key and every verb by its name, from their tables."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui.keys import KEYS
from tui.verbs import VERBS

HIDDEN = ("palette.open", "mark.range")  # of no use from a palette


def entries(remapped: dict[str, str]) -> list[tuple[str, str, str]]:
    """(name, help, what `action_palette` takes) of every key and verb."""
    keys = [
        (f"{key.label or key.id.partition('.')[2]}   {key.shown(remapped)}", key.help, f"key:{key.id}")
        for key in KEYS
        if key.id not in HIDDEN
    ]
    return [*keys, *((f":{verb.name}", verb.summary, f"verb:{verb.name}") for verb in VERBS)]


class Everything(Provider):
    """Finds keys by what they do and verbs by their names."""

    async def discover(self) -> Hits:
        for name, text, target in self._entries:
            yield DiscoveryHit(Content(name), partial(self._do, target), text=name, help=text)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, text, target in self._entries:
            score = max(matcher.match(name), matcher.match(text) * 0.9)
            if score > 0:
                yield Hit(score, Content(name), partial(self._do, target), text=name, help=text)

    @property
    def _entries(self) -> list[tuple[str, str, str]]:
        return entries(self.app.remapped)  # type: ignore[attr-defined]

    async def _do(self, target: str) -> None:
        await self.screen.run_action(f"palette({target!r})")
