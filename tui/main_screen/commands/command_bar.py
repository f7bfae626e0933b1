"""The `:` bar: run a line as a command on the writer's thread, and show its result in a view of its own if there is
one, else as text."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from store.base.citations import parse as parse_citation
from store.base.errors import MemorandaError
from store.base.models import Step
from tui.input.argument_parser import ParsedArguments, Usage, help_text, read
from tui.input.commands.command import Verb
from tui.input.commands.command_table import BY_NAME, command_word, find
from tui.input.commands.synonyms import meant
from tui.input.completion import complete, split
from tui.input.key_table import named
from tui.main_screen.commands.host import CommandHost

if TYPE_CHECKING:
    from tui.commands import Outcome

GAP = "   "  # between the parts of a hint
# verbs allowed in a past view: read-only ones, and those that are not about the memory
IN_THE_PAST = frozenset(
    "facts decisions tasks iterations search show context timeline history as-of diff checkpoints stats open where"
    " config completion model replica".split()
)


def run_line(screen: CommandHost, text: str, agreed: tuple[str, ...] = ()) -> None:
    """Run a typed line, with or without its `/`."""
    words = _words(text)
    if words[0].removeprefix("/") in ("q", "quit", "exit"):
        screen.app.exit()
        return
    if words[0].removeprefix("/") == "help":
        screen.open_screen("help")
        return
    if words[0].removeprefix("/") in ("messages", "tour"):
        screen.app.call_later(screen.app.run_action, f"screen.{words[0].removeprefix('/')}")
        return
    found = find(words)
    if found is None:
        _unknown(screen, text, command_word(words))
        return
    verb, rest = found
    if verb.name not in IN_THE_PAST and screen.refuses():
        return
    rest = [*_meant(screen, verb, rest), *rest]
    try:
        given = read(verb.name, verb.arguments, rest)
    except Usage as error:
        if "--help" in rest:
            screen.pane.read_out(help_text(verb.name, verb.summary, verb.arguments).split("\n"))
        else:
            screen.say(error.message, "warning")
        return
    try:
        done = _in_place(screen, verb, given)
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return
    if not done:
        _run(screen, verb, given, text, agreed)


def _meant(screen: CommandHost, verb: Verb, rest: list[str]) -> list[str]:
    """Return the citations of the marked records, else of the one in the preview, for a verb that wants some and is
    given none: `:tag db`, `:forget`."""
    wanted = verb.arguments[0] if verb.arguments else None
    if wanted is None or wanted.name not in ("id", "ids") or wanted.form not in ("one", "many"):
        return []
    try:
        parse_citation(next((word for word in rest if not word.startswith("--")), ""), "fact")
    except MemorandaError:
        pass
    else:
        return []
    if "--help" in rest or screen.pane.record is None:
        return []
    records = [record for record in screen.targets() if not isinstance(record, Step)]
    return [record.citation for record in (records if wanted.form == "many" else records[:1])]


def _unknown(screen: CommandHost, text: str, word: str) -> None:
    """Offer the command that a word which is none probably stands for, with the rest of the line."""
    said = f"There is no command “{word[:40]}”."
    verb = meant(word.removeprefix("/"), BY_NAME)
    if verb is None:
        screen.say(f"{said} {named('help.open')} lists them all.", "warning")
        return
    line = f"{verb}{text.partition(word)[2]}"
    screen.ask_first(f"{said} Run “{line[:60]}”?", lambda: run_line(screen, line))


def hint(text: str) -> str:
    """Return the usage of the verb being typed, or its possible completions, for the footer; empty without a known
    verb."""
    found = find(text.split())
    if found is None:
        return ""
    verb = found[0]
    words, current = split(text)
    options = [f"--{argument.name}" for argument in verb.arguments if argument.form in ("value", "list")]
    if current.startswith("-") or (words and words[-1] in options):
        candidates = [candidate.text for candidate in complete(words, current, everywhere=())]
        if candidates:
            return f" {GAP.join(candidates)}"
    usage = " ".join(argument.usage for argument in verb.arguments)
    return f" {verb.name} {usage}{GAP}{verb.summary}"


def _words(text: str) -> list[str]:
    """Split a line into words, quoted ones whole; an apostrophe without a closing one is an ordinary character."""
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return text.split()


def _in_place(screen: CommandHost, verb: Verb, given: ParsedArguments) -> bool:
    """Run a verb that has a view of its own; return False for one that has none."""
    if verb.name == "facts" and not (given.status or given.tag):
        _show_facts(screen, given)
    elif verb.name == "demo":
        from tui.commands.files.demo import HOW

        screen.say(HOW, "warning")
    elif verb.name == "agents" and not given.agent:
        screen.open_screen("agents")
    elif verb.name == "team" and not given.act:
        screen.open_screen("team")
    elif verb.name == "replica":
        screen.open_screen("replica", " ".join(given.query), given.team)
    elif verb.name == "config" and not given.name:
        screen.open_screen("settings")
    elif verb.name == "mcp":
        screen.say("An agent starts that, and speaks to it in JSON. docs/agents.md says how it is set up.", "warning")
    elif verb.name == "guard" and not (given.what or given.once or given.watch):
        _show_guard(screen)
    elif verb.name == "guard" and given.watch:
        screen.say("That stays until it is ended: run memoranda guard --watch in a terminal of its own.", "warning")
    elif verb.name == "guest" and given.what in (None, "list", "search"):
        _show_guests(screen, given)
    elif verb.name == "scan" and not (given.md or given.check or given.save or screen.moment):
        _show_scan(screen, given)
    elif verb.name == "verify":
        _show_evidence(screen)
    elif verb.name == "uninstall":
        from tui.commands.system.uninstall import HOW as UNINSTALL

        screen.say(UNINSTALL, "warning")
    elif verb.name == "serve":
        from tui.commands.system.serve import HOW as SERVE

        screen.say(SERVE, "warning")
    elif verb.name == "doctor" and not given.head:
        screen.open_screen("doctor", given.quick)
    elif verb.name == "model" and given.what in (None, "status", "pull", "test"):
        _show_model(screen, given)
    elif verb.name == "search":
        screen.search_for(" ".join(given.query))
    elif verb.name == "show" and not given.diff:
        screen.open_citation(given.citation)
    elif verb.name == "history" and not (given.record or given.since or given.changes):
        screen.change_view(actor=given.actor)
        screen.go_to("history")
    elif verb.name in ("tasks", "checkpoints") and not getattr(given, "status", None):
        screen.change_view(hidden=given.all)
        screen.go_to(verb.name)
    elif verb.name == "ask" and not given.no_model:
        screen.ask_librarian(" ".join(given.question))
    elif verb.name == "context":
        screen.change_view(question=" ".join(given.query), session=given.session)
        screen.go_to(verb.name)
    elif verb.name == "stats" and given.plot == "-":
        screen.open_screen("plots")
    elif verb.name == "stats" and screen.moment is None and not given.plot:  # else the counts are shown as text
        screen.go_to("health")
    elif verb.name == "inbox" and given.state in (None, "", "waiting"):
        screen.change_view(asker=given.origin)
        screen.go_to(verb.name)
    elif verb.name == "timeline" and not (given.since or given.before) and len(given.kind) <= 1:
        _show_timeline(screen, given)
    elif verb.name == "diff":
        screen.show_since(given.since, given.until or "now")
    elif verb.name == "as-of":
        from tui.commands.history.as_of import KINDS

        screen.look_back(" ".join([given.time, *(word for word in given.what if word not in KINDS)]))
    elif verb.name == "restore" and not (given.yes or given.only or given.kind or given.dry_run):
        _show_plan(screen, "checkpoint", given.checkpoint)
    elif verb.name == "undo" and given.all_by and not (given.yes or given.session):
        screen.show_plan("origin", given.all_by)
    elif verb.name == "undo" and given.seq and not (given.overwrite or given.keep or given.dry_run):
        screen.show_plan("step", given.seq)
    elif verb.name == "purge" and not (given.yes or given.dry_run or given.scrub or given.leave):
        _show_purge(screen, given)
    elif verb.name == "sync" and given.edit:
        from tui.actions.synced_file import edit

        edit(screen, given.file or "MEMORY.md")
    elif verb.name == "open" and given.place:
        _open(screen, given.place)
    elif verb.name == "open":
        screen.open_screen("open_memory")
    else:
        return False
    return True


def _show_model(screen: CommandHost, given: ParsedArguments) -> None:
    from store.llm.model_selection import USUAL

    pull = (given.name or USUAL) if given.what == "pull" else ""
    screen.show_model(pull, (given.name or "") if given.what == "test" else None)


def _show_purge(screen: CommandHost, given: ParsedArguments) -> None:
    from tui.actions.purge import show
    from tui.commands.privacy.purge import by_words, planned
    from tui.commands.privacy.purge_global import named

    by_words(given)
    show(screen, named(given) if given.ids else (), lambda memory: planned(memory, given), given.query or "")


def _show_guard(screen: CommandHost) -> None:
    from tui.screens.guard.screen import GuardScreen

    if screen.engine is not None:
        screen.app.push_screen(GuardScreen(screen.engine.location))


def _show_guests(screen: CommandHost, given: ParsedArguments) -> None:
    from tui.screens.guests.screen import GuestsScreen

    if screen.engine is not None:
        tools = (given.tool,) if given.tool else ()
        query, editor = " ".join(given.words), screen.setting("editor")
        screen.app.push_screen(GuestsScreen(screen.engine.location, tools, query, editor))


def _show_scan(screen: CommandHost, given: ParsedArguments) -> None:
    from tui.screens.scan import ScanScreen

    if screen.engine is not None:
        clock = screen.engine.screen.database.clock
        screen.app.push_screen(ScanScreen(screen.cwd, given.folder, clock, screen.setting("editor")))


def _show_evidence(screen: CommandHost) -> None:
    from tui.screens.evidence import EvidenceScreen

    def left(citation: str | None) -> None:
        screen.refresh_records()
        if citation:
            screen.open_citation(citation)

    if screen.engine is not None:
        screen.app.push_screen(EvidenceScreen(screen.engine), left)


def _show_plan(screen: CommandHost, kind: str, text: str) -> None:
    from tui.commands import number

    try:
        screen.show_plan(kind, number(text, kind))
    except MemorandaError as error:
        screen.say(str(error), "warning")


def _show_timeline(screen: CommandHost, given: ParsedArguments) -> None:
    from tui.lists.pane_facets import ENTRIES as KINDS

    kind = given.kind[0] if given.kind else None
    if kind is not None and kind not in KINDS:
        screen.say(f"Kinds: {', '.join(KINDS)}.", "warning")
        return
    screen.change_view(kind=kind)
    screen.go_to("timeline")


def _open(screen: CommandHost, text: str) -> None:
    from tui.commands.files.location import place

    try:
        location, folder = place(text, screen.cwd)
    except MemorandaError as error:
        screen.say(str(error), "warning")
        return
    screen.app.call_later(screen.app.open, location, folder)  # type: ignore[attr-defined]


def _show_facts(screen: CommandHost, given: ParsedArguments) -> None:
    """Go to the facts, filtered."""
    from store.base.vocabulary import DOMAINS
    from store.records.facts import SORTS
    from tui.commands.records.facts import filters

    words, domain = filters(given)
    sort = given.sort or "need"
    if (domain is not None and domain not in DOMAINS) or sort not in (*SORTS, "need"):
        screen.say(f"Domains: {', '.join(DOMAINS)}. Orders: {', '.join(SORTS)}.", "warning")
        return
    screen.change_view(state=None, domain=domain, origin=given.origin, words=words, hidden=given.all, sort=sort)
    screen.go_to("facts")


def _run(screen: CommandHost, verb: Verb, given: ParsedArguments, text: str, agreed: tuple[str, ...]) -> None:
    from tui.workers.writer import Asks

    engine = screen.engine
    if engine is None:
        return
    if verb.name == "export" and not given.form and given.file in (None, "", "-"):  # nothing is printed here
        from tui.actions.copy_export import export_path

        given.set("file", export_path(engine.location.name))

    def done(result: object, error: MemorandaError | None) -> None:
        screen.later(finish, result, error)

    def finish(result: object, error: MemorandaError | None) -> None:
        if isinstance(error, Asks):
            if error.lines:
                screen.pane.read_out(error.lines, focus=False)
            shown = (*agreed, error.shown)  # anything else that it shows then is asked again
            screen.ask_first(error.message, lambda: run_line(screen, text, shown))
        elif error is not None:
            screen.say(str(error), "error")
        else:
            _show(screen, verb, result)  # type: ignore[arg-type]

    if verb.apart:
        screen.say(f"{verb.name} goes on beside everything else; it says when it is done.")
    engine.run(verb, given, agreed, done)


def _show(screen: CommandHost, verb: Verb, outcome: Outcome) -> None:
    if outcome.message:
        screen.say(outcome.message, alone=True)
    if outcome.lines:
        screen.pane.read_out(outcome.lines)
    if verb.name in ("config", "model"):
        screen.app.configure_again()  # type: ignore[attr-defined]
    elif not verb.reads:
        screen.refresh_records()
    if verb.name == "index" and screen.engine is not None:
        screen.engine.embedder.resume()
        screen.embed()
