"""The `:` bar: a line as a verb, run by the pen, and what it gave shown where the app has a better place than text."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from store.errors import MemorandaError
from tui.arguments import Given, Usage, help_text, read
from tui.verbs import Verb, find

if TYPE_CHECKING:
    from tui.commands import Outcome
    from tui.screens.main import MainScreen


def run_line(screen: MainScreen, text: str, agreed: bool = False) -> None:
    """Run a typed line, with or without its `/`."""
    words = _words(text)
    if words[0].removeprefix("/") in ("q", "quit", "exit"):
        screen.app.exit()
        return
    if words[0].removeprefix("/") == "help":
        screen.action_help()
        return
    found = find(words)
    if found is None:
        screen.say(f"There is no verb “{words[0][:40]}”. ? lists them all.", "warning")
        return
    verb, rest = found
    try:
        given = read(verb.name, verb.arguments, rest)
    except Usage as error:
        if "--help" in rest:
            screen.pane.read_out(help_text(verb.name, verb.summary, verb.arguments).split("\n"))
        else:
            screen.say(error.message, "warning")
        return
    if not _in_place(screen, verb, given):
        _run(screen, verb, given, text, agreed)


def hint(text: str) -> str:
    """How the verb that is being typed is used, for the footer."""
    found = find(text.split())
    if found is None:
        return " enter does it   tab completes   esc leaves"
    verb = found[0]
    usage = " ".join(argument.usage for argument in verb.arguments)
    return f" {verb.name} {usage}   {verb.summary}"


def export_path(name: str) -> str:
    """Where an export goes unless it is said: home, not the checkout, where the next `git add` would publish it."""
    return f"~/{name}-memory.json"


def _words(text: str) -> list[str]:
    """A line's words, quoted ones whole; an apostrophe that closes nothing is only an apostrophe."""
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return text.split()


def _in_place(screen: MainScreen, verb: Verb, given: Given) -> bool:
    """Do what the screen does better than text; False if it does not."""
    if verb.name == "facts" and not (given.status or given.origin or given.tag):
        _show_facts(screen, given)
        return True
    if verb.name == "search":
        screen.search_for(" ".join(given.query))
        return True
    if verb.name == "show" and not given.diff:
        screen.open_citation(given.citation)
        return True
    return False


def _show_facts(screen: MainScreen, given: Given) -> None:
    """Go to the facts, filtered."""
    from store.facts import SORTS
    from store.vocabulary import DOMAINS
    from tui.commands.facts import filters

    words, domain = filters(given)
    if (domain is not None and domain not in DOMAINS) or given.sort not in SORTS:
        screen.say(f"Domains: {', '.join(DOMAINS)}. Orders: {', '.join(SORTS)}.", "warning")
        return
    screen.change_view(domain=domain, words=words, hidden=given.all, sort=given.sort)
    screen.action_pane("facts")


def _run(screen: MainScreen, verb: Verb, given: Given, text: str, agreed: bool) -> None:
    from tui.engine import Asks

    engine = screen.engine
    if engine is None:
        return
    if verb.name == "export" and not given.file:
        given.set("file", export_path(engine.location.name))

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if isinstance(error, Asks):
            screen.ask_first(error.message, lambda: run_line(screen, text, agreed=True))
        elif error is not None:
            screen.say(str(error), "error")
        else:
            _show(screen, verb, result)  # type: ignore[arg-type]

    engine.run(verb, given, agreed, done)


def _show(screen: MainScreen, verb: Verb, outcome: Outcome) -> None:
    if outcome.message:
        screen.say(outcome.message, alone=True)
    if outcome.lines:
        screen.pane.read_out(outcome.lines)
    if not verb.reads:
        screen.refresh_records()
