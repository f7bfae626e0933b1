"""What keys, the box and typed lines do: find the action of a key and what it needs to know, do it as one step of
history, and show what was done."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import signature
from itertools import chain, islice
from operator import contains
from typing import Any

from textual import work

from store.base.citations import parse_citation
from store.base.errors import MemorandaError, Purged
from store.base.models import Checkpoint, Record
from store.base.runtime import require_part
from store.base.vocabulary import DOMAINS, PERSON_ORIGIN
from store.config.settings import MODEL_WORD, SETTINGS
from store.history.checkpoints import MANY_RECORDS
from store.memory import Memory
from store.projects.locating import locate_memory
from store.records.facts import FACT_SORTS
from store.records.table import LoggedRedaction, take_redactions
from store.search.pipeline import search_for_person
from store.text.display import format_count, visible
from store.upkeep.as_of import PointInTime
from tui.actions.action import AGREED, Action, Done, cite_things
from tui.actions.plans import plan_purge_of, plan_restore, plan_since, plan_undo, plan_undo_all
from tui.actions.records import edit_synced_file, offer_record
from tui.actions.table import ACTIONS, action_for_many
from tui.commands.agents import SERVE_HINT, UNINSTALL_HINT
from tui.commands.call import Outcome, parse_id
from tui.commands.lists import PAST_KINDS, Narrowing, fact_filters, find_listing
from tui.commands.location import DEMO_HINT
from tui.commands.privacy import select_purged
from tui.desktop.programs import copy_to_clipboard
from tui.input import verb_table
from tui.input.arguments import ParsedArguments, UsageError, Verb, help_text, parse_arguments, settle
from tui.input.completion import complete_typed
from tui.input.key_table import KEYS, KEYS_BY_ID, PANE_KEYS, key_name
from tui.main_screen.places import PlacesScreen, citation_of, has_key
from tui.panes.records import TIMELINE_WORDS
from tui.panes.settings import pull_model
from tui.render.lines import LABEL_WIDTH, cuts_notice, summarize_record
from tui.screens.base import KEY_LOOK, HelpScreen, key_pieces
from tui.screens.dialogs import Chooser, Form, FormField, Offer
from tui.screens.plans import Plan, PlanScreen
from tui.theme.line_filters import Piece
from tui.widgets.inputs import TextEditor
from tui.workers.engine import ConfirmationNeeded

# lines that a text needs to be edited where it stands
LEAST_LINES = 2
MOST_FOOTER_KEYS = 7
FOOTER_TEXT = "$footer-description-foreground"
# keys that a footer shows after those of the record
LAST_KEYS = ("memory.undo", "search.open", "command.open")
# keys of a record before that which zooms it
ZOOM_PLACE = 3
# records named in a question about many
NAMED_RECORDS = 12
# records offered for the words of a typed command
OFFERED_RECORDS = 12
# verbs allowed in a past view: read-only ones, and those that are not about the memory
PAST_VERBS = frozenset("list search show context timeline history diff health open config".split()) | {
    "team replica"
}
OWN_WORDS = {word: word for word in ("help", "messages", "tour")} | dict.fromkeys(
    ("q", "quit", "exit"), "app.quit"
)
# but not with these options
PAST_REFUSED = {"health": ("check", "index", "salvage"), "open": ("new",)}
# of now, whenever the view is of
PRESENT_LISTS = {"list events", "list sessions", "list backups"}
HINTS = {
    "demo": DEMO_HINT, "uninstall": UNINSTALL_HINT, "serve": SERVE_HINT,
    "mcp": "An agent starts that, and speaks to it in JSON. docs/agents.md says how it is set up.",
}  # fmt: skip
# verbs that need not be given a citation, each with the option that then says what is meant
OPTIONS_INSTEAD = {"bind": "--check", "confirm": "--origin", "forget": "--origin"}


class ActingScreen(PlacesScreen):
    """Begins actions, does them, and runs typed lines."""

    # where a session broke off, until it was read
    offered: Checkpoint | None = None
    # gets the text that is edited in the preview
    _edited: Callable[[str], None]
    # the lines typed in the box in this sitting
    _lines: tuple[str, ...] = ()

    # the past, in which nothing is written

    @property
    def moment(self) -> PointInTime | None:
        """The moment of the past that is shown; None for now."""
        past = self.opened.past if self.opened is not None else None
        return past.moment if past is not None else None

    def refuses(self) -> bool:
        """Tell whether the view is read-only, and if so say so."""
        moment = self.moment
        if moment is not None:
            back = f"{key_name('screen.leave')} comes back to now"
            self.say(f"You are looking at {moment.words}; {back}.", "warning")
        return moment is not None

    def look_back(self, text: str) -> None:
        """Show everything as it was at a moment; see `MainScreen`."""

    # from a key to an action

    def find_action(self, id: str, things: Sequence[Any]) -> Action | None:
        """Return the action of a key for some things: one of the pane first, then one for their kind, then one for
        nothing in particular."""
        own = [one for one in self.place.pane.actions if one.key == id]
        general = [one for one in ACTIONS if one.key == id]
        fits = [one for one in own if not one.kinds or one.things(things)]
        fits += [one for one in general if one.kinds and one.things(things)]
        fits += [one for one in general if not one.kinds]
        return fits[0] if fits else None

    def action_start(self, id: str) -> None:
        """Begin the action of a key."""
        things = self.targets()
        action = self.find_action(id, things)
        if action is not None and action.one and (here := self.thing_at_cursor()) in things:
            action = self.find_action(id, [here]) or action
        if action is None:
            self.say(
                f"{KEYS_BY_ID[id].help}: not for what is chosen." if things else "Nothing is selected.", "warning"
            )
        elif action.looks or not self.refuses():
            self.begin(self._join_kinds(action, things), things)

    def _join_kinds(self, action: Action, things: Sequence[Any]) -> Action:
        """Return an action; where its key does something else to some of the things, one that does it all in a step of
        history, unless something has to be known before."""
        parts: dict[Action, list[Any]] = {}
        every = [(found, one) for one in things if (found := self.find_action(action.key, [one])) and found.kinds]
        for found, one in every:
            parts.setdefault(found, []).append(one)
        if len(parts) < 2 or any(one.does is None or one.fields or one.pick for one in parts):
            return action

        def do_all(memory: Memory, fit: Sequence[Any]) -> Done:
            with memory.database.step(PERSON_ORIGIN, f"{KEYS_BY_ID[action.key].label} {cite_things(fit)}"):
                done = [one.does(memory, some) for one, some in parts.items() if one.does is not None]
            said = [one if isinstance(one, str) else one.text for one in done]
            return Done("; ".join(said), undo=any(isinstance(one, str) or one.undo for one in done))

        return Action(
            action.key, action.word, (object,), do_all, fits=partial(contains, [one for _, one in every])
        )

    def begin(self, action: Action, things: Sequence[Any]) -> None:
        """Ask what an action needs to know, or do it. One that is of nothing in particular gets no things."""
        fit = action.things(things)
        if action.one and len(fit) > 1:
            here = self.thing_at_cursor()
            fit = [here] if here in fit else fit[:1]
        if len(fit) > 1:
            action = action_for_many(action, fit)
        go = partial(self.perform, action, fit) if action.run is None else partial(action.run, self, fit)
        key = KEYS_BY_ID[action.key]
        word = action.word_for(fit[0] if fit else None) or key.label or key.help
        word = f"{word[:1].upper()}{word[1:]}"
        title = f"{word} {cite_things(fit)}" if fit and citation_of(fit[0]) else word
        if action.plan is not None:
            make = action.plan
            self.show_plan(lambda memory: make(memory, fit))
        elif action.pick is not None:
            find = action.pick.find
            named = action.pick.title.format(cite_things(fit))
            self.choose(named, lambda memory, words: find(memory, fit, words), lambda one: go(chosen=one))
        elif action.fields:
            self.ask(Form(title, action.fields, fit), lambda given: go(**given))
        elif action.does is not None and (len(fit) > MANY_RECORDS or key.keys.isupper()):
            some = [one for one in fit[:NAMED_RECORDS] if isinstance(one, Record)]
            lines = [f"{one.citation}  {summarize_record(one)[0]}" for one in some]
            more = [f"… and {len(fit) - NAMED_RECORDS:,} more"] if len(fit) > NAMED_RECORDS else []
            self.agree_first(f"{word} {format_count(len(fit), 'record')}?", [*lines, *more], go)
        else:
            go()

    def agree_first(self, question: str, lines: Sequence[str], go: Callable[[], object]) -> None:
        """Show a question with lines to read; Enter goes on."""
        self.ask(Form(question, lines=lines), lambda given: go())

    # from an action to a step of history

    def perform(self, action: Action, things: Sequence[Any], **answers: Any) -> None:
        """Do an action on the thread that writes, and show what it did."""
        does = action.does

        def work(memory: Memory, again: bool) -> Done | str:
            assert does is not None
            more = {"again": True} if again and "again" in signature(does).parameters else {}
            return does(memory, things, **answers, **more)

        self._do(work)

    def _do(
        self, work: Callable[[Memory, bool], Done | str], again: bool = False, agreed: frozenset[str] = frozenset()
    ) -> None:
        """Do work on the thread that writes, and show what it did; again where the person agrees to what it asks, or to
        keep what was purged."""
        cut: list[LoggedRedaction] = []

        def write(memory: Memory) -> Done | str:
            token = AGREED.set(agreed)
            try:
                return work(memory, again)
            finally:
                AGREED.reset(token)
                cut.extend(take_redactions(memory.database))

        def finish(result: Any, error: MemorandaError | None) -> None:
            if isinstance(error, ConfirmationNeeded | Purged):
                purged = isinstance(error, Purged)
                question = f"{error.message} Keep it all the same?" if purged else error.message
                lines = error.lines if isinstance(error, ConfirmationNeeded) else ()
                self.agree_first(question, lines, partial(self._do, work, again or purged, agreed | {question}))
            elif error is not None:
                self.say(str(error), "error")
                self.refresh_rows()
            else:
                self._show_done(Done(result) if isinstance(result, str) else result, cut)
            self.application.release_keys("write")

        # they are for what comes of it
        self.application.hold_keys("write")
        self.engine.write(write, finish)

    def _show_done(self, done: Done, cut: Sequence[LoggedRedaction]) -> None:
        """Show what was done, and what is there now; the cursor goes on where it is asked to."""
        marked = bool(self.record_list.marks)
        self.record_list.unmark()
        undo = f", {key_name('memory.undo')} to undo" if done.undo else ""
        if cut:
            self.say(f"{done.text}{undo}. {cuts_notice(cut)}", "warning", 12)
        elif done.text:
            self.say(f"{done.text}{undo}", done.level)
        self.refresh_rows(done.select)
        if done.onward and not marked and self.record_list.has_focus:
            self.record_list.action_move(1)
        if done.lines:
            self.show_lines(done.lines)

    # plans

    def show_plan(self, make: Callable[[Memory], Plan]) -> None:
        """Work out on a thread what would happen, and show it; Enter there does it. In the past too a plan is of what
        there is now."""

        def work(memory: Memory) -> Plan:
            if engine.past is None:
                return make(memory)
            with engine.open_memory(None) as present:
                return make(present)

        engine = self.engine
        self.application.hold_keys("plan")
        engine.read("plan", work, self._show_plan, self.fail)

    def _show_plan(self, plan: Plan) -> None:
        self.app.push_screen(PlanScreen(plan, self.form), self._carry_out)
        self.application.release_keys("plan")

    def _carry_out(self, chosen: Any) -> None:
        if isinstance(chosen, str):
            self.open_citation(chosen)
        elif chosen is not None and not self.refuses():
            plan, keys = chosen
            if plan.word:
                self.say("Erasing, and checking every byte …")
            self._do(lambda memory, again: plan.do(memory, keys))

    # the text that is edited where it stands

    def edit_text(self, label: str, text: str, answer: Callable[[str], None], does: str = "saves") -> None:
        """Have a text edited in the preview, or in a box where it cannot be seen there; then call `answer`, which does
        that."""
        preview = self.pane.preview
        place = preview.place_of(text, (0, LABEL_WIDTH))
        if place is None or preview.size.height - place[1] < LEAST_LINES:
            form = Form(label, [FormField("text", label, text)], does=does)
            self.ask(form, lambda given: answer(given["text"]))
            return
        self._edited = answer
        self.application.hold_keys("edit")
        self.query(TextEditor).remove()
        editor = TextEditor(text, *place)
        editor.styles.width = preview.size.width - place[0]
        self.pane.mount(editor)
        self.pane.call_after_refresh(self._begin_edit, editor, label, does)

    def _begin_edit(self, editor: TextEditor, label: str, does: str) -> None:
        self.set_focus(editor)
        keys = [("enter", does, "end_edit(True)"), ("^j", "new line", ""), ("^u", "empties the line", "")]
        shown = key_pieces(*keys, ("esc", "leaves", "end_edit(False)"))
        self.put_footer((f" {visible(label)} ", "bold $text-accent"), *shown)
        self.application.release_keys("edit")

    def action_end_edit(self, keep: bool) -> None:
        """Keep the text, or leave it as it was, for a click."""
        if (editor := self.query_one_optional(TextEditor)) is not None:
            self._end_edit(editor.text if keep else None)

    def on_text_editor_left(self, event: TextEditor.Left) -> None:
        self._end_edit(event.text)

    def _end_edit(self, text: str | None) -> None:
        self.query(TextEditor).remove()
        self.set_focus(self.record_list)
        self.draw_footer()
        if text is not None:
            self._edited(text)
        self.application.release_keys()

    @work(group="copy", exit_on_error=False)
    async def copy(self, text: str, what: str) -> None:
        """Copy a text to the clipboard, and report by which way."""
        self.say(f"Copied {what} {await copy_to_clipboard(self.app, text)}")

    # the footer

    def draw_footer(self) -> None:
        """Show the keys of what is under the cursor, as many as there is room for: at most seven, the last always."""
        if not self.is_attached or isinstance(self.focused, TextEditor):
            return
        last = [(id, KEYS_BY_ID[id].label) for id in LAST_KEYS if has_key(id)]
        most = MOST_FOOTER_KEYS - len(last)
        first = list(islice((one for one in self._keys_here() if has_key(one[0])), most))
        if (self.pane.preview.has_focus or self.form == "-narrow") and has_key("preview.alone"):
            first = [*first[:ZOOM_PLACE], ("preview.alone", "zoom"), *first[ZOOM_PLACE:]][:most]
        keys = [[(key_name(id), word, KEYS_BY_ID[id].action) for id, word in some] for some in (first, last)]
        room = (self.size.width or 80) - 1
        while keys[0] and sum(len(key) + len(word) + 3 for key, word, _ in (*keys[0], *keys[1])) > room:
            keys[0].pop()
        pieces: list[Piece] = []
        for key, word, action in (*keys[0], *keys[1]):
            pieces += [(f" {key}", KEY_LOOK, action), (f" {word} ", FOOTER_TEXT, action)]
        self.put_footer(*pieces)

    def _keys_here(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of the keys that do something to what is under the cursor, each with its word; those of the
        pane first."""
        preview, thing, past = self.pane.preview, self.targets()[:1], self.moment is not None
        own, named = self.place.pane.actions, set[str]()
        if preview.has_focus and preview.link:
            named.add("preview.follow")
            yield "preview.follow", f"opens {preview.link}"
        fitting = (one for one in (*own, *ACTIONS) if one.kinds and thing and one.things(thing))
        general = (one for one in own if not one.kinds and isinstance(one.word, str))
        found = False
        for action in chain(fitting, general):
            if not action.word or action.key in named or (past and not action.looks):
                continue
            named.add(action.key)
            if word := action.word_for(thing[0] if thing else None):
                found = True
                yield action.key, word
        if not found and not past and self.pane_name in PANE_KEYS:
            yield "record.add", "add"

    # the help and the box

    def action_help(self) -> None:
        """List all keys and commands; the one that is chosen is done."""
        self.ask(HelpScreen(self.application.remapped), self._take_help)

    def _take_help(self, target: str) -> None:
        kind, _, name = target.partition(":")
        if kind == "verb":
            self.type_command(f"{name} ")
        elif kind == "key":
            self.call_later(self.run_action, KEYS_BY_ID[name].action)

    def action_box(self) -> None:
        """Open the box in which actions, views, settings and commands are found."""
        self.type_command("")

    def type_command(self, line: str) -> None:
        """Open the box with a line begun."""
        title, hint = "Do, go, or type a command", "what do you want to do, or where to go"
        box = Chooser(title, self._offer, self.engine, line, hint, complete_typed, self._lines)
        self.ask(box, lambda do: do())

    def _offer(self, memory: Memory, words: str) -> list[Offer]:
        """Return what the box offers for words: the command that they are, the records that a command may be for, then
        keys, views, settings and commands by what they do."""
        line = words.strip()
        if not line:
            return [*self._offer_keys(""), *self._offer_verbs("")]
        found = verb_table.find_verb(split_words(line))
        offers = self._offer_command(memory, line, *found) if found is not None else []
        offers += self._offer_keys(line)
        if found is None or not found[1]:
            offers += [*self._offer_verbs(line), *self._offer_settings(line)]
        return offers or [Offer(partial(self.run_line, line), f"run “{line}”")]

    def _offer_command(self, memory: Memory, line: str, verb: Verb, rest: list[str]) -> list[Offer]:
        usage = " ".join(argument.usage for argument in verb.arguments)
        does = Offer(
            partial(self.run_line, line), f"enter does it:  {line}", "", f"{verb.name} {usage}", "▸", "accent"
        )
        loose = [rest[at] for at in verb_table.find_loose_words(verb, rest)]
        options = [word for word in rest if word.startswith("--")]
        if not _takes_ids(verb) or not loose or options or any(map(_is_citation, loose)):
            return [does]
        found = search_for_person(
            memory.search, memory.database, " ".join(loose), OFFERED_RECORDS, False, typing=True
        )
        offers = [
            offer_record(hit.record)._replace(value=partial(self.run_line, f"{verb.name} {hit.record.citation}"))
            for hit in found.hits
        ]
        # which takes words itself
        return [does, *offers] if verb.name == "purge" else [*offers, does]

    def _offer_keys(self, words: str) -> list[Offer]:
        """Return the keys that do what words say, those of what is under the cursor first."""
        found = []
        for key in KEYS:
            shown = key_name(key.id) if has_key(key.id) else ""
            do = partial(self.call_later, self.run_action, key.action)
            name = key.label or key.id.replace(".", " ")
            others = (key.words, *verb_table.other_words("verbs").get(key.verb, ()))
            exact = words != "" and words in (key.id, shown, key.former)
            found.append((Offer(do, key.help, shown, glyph="▸", look="accent"), name, others, exact))
        return _find_offers(words, found)

    def _offer_verbs(self, words: str) -> list[Offer]:
        """Return the commands that do what words say, to be completed."""
        found = []
        for verb in verb_table.list_verbs():
            former = [word for word, now in verb_table.FORMER_WORDS.items() if now.split()[0] == verb.name]
            others = (*verb_table.other_words("verbs").get(verb.name, ()), *former)
            do = partial(self.type_command, f"{verb.name} ")
            found.append((Offer(do, verb.summary, f":{verb.name}", glyph=":"), verb.name, others, False))
        return _find_offers(words, found)

    def _offer_settings(self, words: str) -> list[Offer]:
        """Return the settings that words name."""
        asked, others = words.lower().split(), verb_table.other_words("settings")
        return [
            Offer(partial(self.go_to, "settings", words=one.name), one.meaning, f"setting {one.name}", glyph="=")
            for one in SETTINGS
            if _match_words(asked, one.name, one.meaning, others.get(one.name, ()))
        ]

    def action_themes(self) -> None:
        """Choose the theme; it is shown as it is chosen."""

        def find(memory: Memory, words: str) -> list[Offer]:
            now = self.app.theme
            names = sorted(self.app.available_themes, key=lambda name: (name != now, name))
            return [Offer(name, name, "now" if name == now else "") for name in names if words.lower() in name]

        self.choose("Theme", find, partial(setattr, self.app, "theme"))

    # typed lines

    def run_line(self, text: str, agreed: tuple[str, ...] = ()) -> None:
        """Run a typed line, with or without its `/`."""
        if not text.strip():
            return
        if not agreed:
            self._lines = (*self._lines, text)
        words = split_words(text.removeprefix(":"))
        first = words[0].removeprefix("/")
        if first in OWN_WORDS and len(words) == 1:
            self.call_later(self.run_action, OWN_WORDS[first])
            return
        found = verb_table.find_verb(words)
        if found is None:
            self._offer_near_verb(text, verb_table.command_word(words))
            return
        verb, rest = found
        names = {verb.name, " ".join([verb.name, *rest[:1]])}
        if (not PAST_VERBS & names or PRESENT_LISTS & names) and self.refuses():
            return
        rest = [*self._cited_in_list(verb, rest), *rest]
        try:
            given = parse_arguments(verb.name, verb.arguments, rest)
            if any(getattr(given, option) for option in PAST_REFUSED.get(verb.name, ())) and self.refuses():
                return
            if verb.part:
                require_part(verb.part)
            if not self._run_in_view(verb, given):
                self._run_verb(verb, given, text, agreed)
        except UsageError as error:
            if "--help" in rest:
                self.show_lines(help_text(verb.name, verb.summary, verb.arguments).split("\n"))
            else:
                self.say(error.message, "warning")
        except MemorandaError as error:
            self.say(str(error), "warning")

    def _cited_in_list(self, verb: Verb, rest: list[str]) -> list[str]:
        """Return the citations of the marked records, or of the record in the preview, for a verb that needs citations
        and got none: `:tag db`, `:forget`."""
        wanted = verb.arguments[0] if verb.arguments else None
        if wanted is None or not _takes_ids(verb) or "--help" in rest:
            return []
        instead = OPTIONS_INSTEAD.get(verb.name, "")
        if wanted.form not in ("one", "many") and (not instead or any(word.startswith(instead) for word in rest)):
            return []
        if any(_is_citation(rest[at]) for at in verb_table.find_loose_words(verb, rest)[:1]):
            return []
        cited = [citation for citation in map(citation_of, self.targets()) if citation]
        return cited if wanted.form in ("many", "any") else cited[:1]

    def _offer_near_verb(self, text: str, word: str) -> None:
        """Offer the command that a word which is none probably stands for, with the rest of the line."""
        said = f"There is no command “{word[:40]}”."
        verb = verb_table.suggest_verb(word.removeprefix("/"))
        if verb is None:
            self.say(f"{said} {key_name('help.open')} lists them all.", "warning")
        else:
            line = f"{verb}{text.partition(word)[2]}"
            self.agree_first(f"{said} Run “{line[:60]}”?", (), lambda: self.run_line(line))

    def _run_verb(self, verb: Verb, given: ParsedArguments, text: str, agreed: tuple[str, ...]) -> None:
        engine = self.engine
        # nothing is printed here
        if verb.name == "export" and not given.form and given.file in (None, "", "-"):
            given.file = f"~/{engine.location.display_name}-memory.json"

        def finish(result: Any, error: MemorandaError | None) -> None:
            if isinstance(error, ConfirmationNeeded):
                # anything else that it shows then is asked again
                shown = (*agreed, error.shown_text)
                self.agree_first(error.message, error.lines, lambda: self.run_line(text, shown))
            elif error is not None:
                self.say(str(error), "error")
            else:
                self._show_outcome(verb, given, result)
            self.application.release_keys("write")

        if settle(verb.apart, given):
            self.say(f"{verb.name} goes on beside everything else; it says when it is done.")
        else:
            self.application.hold_keys("write")
        engine.run_verb(verb, given, agreed, finish)

    def _show_outcome(self, verb: Verb, given: ParsedArguments, outcome: Outcome) -> None:
        """Show the outcome of a verb, and what it may have changed."""
        reads = settle(verb.reads, given)
        if outcome.message:
            said = outcome.message
            first, *rest = [one for one in said.split(". ") if not one.casefold().startswith("undo ")]
            if outcome.wrote_step and not any("undo" in one for one in rest) and verb.name not in UNDO_WORDS:
                said = ". ".join([f"{first.removesuffix('.')}, {key_name('memory.undo')} to undo", *rest])
            self.say(said)
        if outcome.lines:
            self.show_lines(outcome.lines)
        if verb.name == "config":
            self.application.configure_again()
        elif not reads:
            self.record_list.unmark()
            self.refresh_rows()
        if verb.name == "health" and given.index:
            self.engine.embedder.resume()
            self.embed()

    def embed(self) -> None:
        """Embed what waits; see `MainScreen`."""

    def open_citation(self, text: str) -> None:
        """Show the record of a citation in the preview."""
        try:
            self.pane.open(parse_citation(text, "fact"))
        except MemorandaError as error:
            self.say(str(error), "warning")

    def search_for(self, query: str) -> None:
        """Search, as if typed in the find line."""
        self.search_bar.search_for(query)

    def ask_question(self, question: str) -> None:
        """Ask the Librarian; see `MainScreen`."""

    def _run_in_view(self, verb: Verb, given: ParsedArguments) -> bool:
        """Show what a verb is about where it has a place of its own; return False where it has none. Raises
        MemorandaError."""
        name = verb.name
        if name in HINTS:
            self.say(HINTS[name], "warning")
        elif name == "list":
            return self._show_list(given)
        elif name == "agents" and not (given.agent or given.pause or given.off):
            self.go_to("agents")
        elif name == "team" and not given.act:
            self.go_to("team")
        elif name == "config" and given.name == MODEL_WORD and given.value in (None, "status", "pull"):
            self.go_to("settings", shows="model")
            if given.value == "pull":
                pull_model(self, *filter(None, (given.model,)))
        elif name == "config" and not given.name:
            self.go_to("settings")
        elif name == "files":
            return self._show_files(given)
        elif name == "health" and given.check and not given.head:
            again = self.place.view.get("check") == "damage"
            self.go_to("health", check="quick" if given.quick else "damage again" if again else "damage")
        elif name == "health" and self.moment is None and {*vars(given).values()} <= {None, False, "", "-"}:
            # in the past the counts are shown as text
            self.go_to("health")
        elif name == "search":
            self.search_for(" ".join(given.query))
        elif name == "show" and not given.diff:
            self.open_citation(given.citation)
        elif name == "history" and given.to and given.since:
            self.show_plan(lambda memory: plan_since(memory, given.since, given.to))
        elif name == "history" and not (given.record or given.since or given.to or given.changes):
            self.go_to("history", actor=given.actor, only=None)
        elif name == "ask" and not given.no_model:
            self.ask_question(" ".join(given.question))
        elif name == "context":
            self.go_to("ask", context="1", question=" ".join(given.query), session=given.session)
        elif name == "today" and given.state in ("", "waiting"):
            self.go_to("today", asker=given.origin)
        elif name == "timeline" and not (given.since or given.before) and len(given.kind) <= 1:
            self._show_timeline(given.kind[0] if given.kind else None)
        elif name == "restore" and not (given.yes or given.only or given.kind or given.dry_run):
            number = parse_id(given.checkpoint, "checkpoint")
            self.show_plan(lambda memory: plan_restore(memory, [memory.checkpoints.get(number)]))
        elif name == "undo" and given.all_by and not given.yes:
            self.show_plan(lambda memory: plan_undo_all(memory, given.all_by, given.session or ""))
        elif name == "undo" and given.seq and not (given.overwrite or given.keep or given.dry_run):
            step = parse_id(given.seq, "step") if isinstance(given.seq, str) else given.seq
            self.show_plan(lambda memory: plan_undo(memory, [memory.history.get(step)]))
        elif name == "purge" and not (given.check or given.yes or given.dry_run or given.scrub or given.leave):
            meant = select_purged(given.ids, given.query, given.origin, given.before, given.kind, given.yes)
            self.show_plan(lambda memory: plan_purge_of(memory, meant.records, meant.plan, meant.query or ""))
        elif name == "sync" and given.edit:
            edit_synced_file(self, given.file or "MEMORY.md")
        elif name == "open" and given.place:
            location, folder = locate_memory(given.place, self.cwd)
            self.app.call_later(self.application.open, location, folder)
        elif name == "open" and not (given.new or given.where):
            self.action_start("memory.open")
        else:
            return False
        return True

    def _show_files(self, given: ParsedArguments) -> bool:
        """Show what other tools remember: what is wrong with it, what changed in it, or its texts."""
        if given.act == "keep" and given.watch:
            said = "That stays until it is ended: run memoranda files keep --watch in a terminal of its own."
            self.say(said, "warning")
        elif given.act == "list":
            self.go_to("files", shows="texts", words=" ".join(given.words), tool=given.tool)
        elif given.act == "keep" and not (given.words or given.once or given.off):
            self.go_to("files", shows="changes", words=None, tool=None)
        elif given.act == "scan" and not (given.md or given.check or given.save or self.moment):
            self.go_to("files", shows="wrong", folders=shlex.join(given.words), words=None, tool=None)
        else:
            return False
        return True

    def _show_timeline(self, kind: str | None) -> None:
        if kind is not None and kind not in TIMELINE_WORDS:
            self.say(f"Kinds: {', '.join(TIMELINE_WORDS)}.", "warning")
        else:
            self.go_to("timeline", kind=kind)

    def _show_list(self, given: ParsedArguments) -> bool:
        """Go to the pane of what is listed, narrowed; return False where there is none. Raise UsageError."""
        options = {name: value for name, value in vars(given).items() if name not in ("at", "limit")}
        kind, narrow = find_listing(Narrowing(**options), given.at)
        if given.at is not None:
            self.look_back(" ".join([given.at, *(word for word in narrow.words if word not in PAST_KINDS)]))
        elif kind == "facts" and not (narrow.status or narrow.tag):
            self._show_facts(narrow)
        elif kind == "tasks" and not narrow.status:
            self._go_to_view("facts", narrow.all, state="tasks")
        elif kind == "checkpoints":
            self._go_to_view("history", narrow.all, only="checkpoints")
        else:
            return False
        return True

    def _go_to_view(self, name: str, hidden: bool, sort: str | None = None, **chosen: str | None) -> None:
        """Go to a pane, narrowed, with what is hidden or without it, in an order."""
        self.go_to(name, **chosen)
        view = self.place.view._replace(hidden=hidden)
        view = view if sort is None else view._replace(sort=sort)
        if view != self.place.view:
            self.narrow(view)

    def _show_facts(self, narrow: Narrowing) -> None:
        """Go to the facts, filtered."""
        words, domain = fact_filters(narrow.words, narrow.domain)
        sort = narrow.sort or "need"
        if (domain is not None and domain not in DOMAINS) or sort not in (*FACT_SORTS, "need"):
            self.say(f"Domains: {', '.join(DOMAINS)}. Orders: {', '.join(FACT_SORTS)}.", "warning")
            return
        chosen = {"state": None, "tag": None, "domain": domain, "origin": narrow.origin, "words": words}
        self._go_to_view("facts", narrow.all, "" if sort == "need" else sort, **chosen)


UNDO_WORDS = ("undo", "redo", "checkpoint", "purge")
"""Commands whose outcome is not undone by the key, or says itself how."""


def split_words(text: str) -> list[str]:
    """Split a line into words; quoted words stay whole, and an apostrophe without a closing one is an ordinary
    character."""
    text = text.replace("“", '"').replace("”", '"')
    try:
        return shlex.split(text) or [text]
    except ValueError:
        return text.split()


def _takes_ids(verb: Verb) -> bool:
    return bool(verb.arguments) and verb.arguments[0].name in ("id", "ids")


def _is_citation(word: str) -> bool:
    try:
        parse_citation(word, "fact")
    except MemorandaError:
        return False
    return True


def _find_offers(words: str, found: Iterable[tuple[Offer, str, Sequence[str], bool]]) -> list[Offer]:
    """Return the offers that words are about, those that they name first; each comes with its name, other words for it,
    and whether it is exactly what is meant."""
    asked = words.lower().split()
    scored = [
        (9 if exact else _match_words(asked, name, offer.text, others), offer)
        for offer, name, others, exact in found
    ]
    return [offer for score, offer in sorted(scored, key=lambda one: -one[0]) if score or not asked]


def _match_words(asked: Sequence[str], name: str, text: str, others: Sequence[str]) -> int:
    """Return how well words match a name, its other names, or its description; 0 if one of them is in none."""
    names = " ".join((name, *others)).lower()
    whole = f"{names} {text.lower()}"
    if not asked or not all(word in whole for word in asked):
        return 0
    return (
        1 + sum(3 * (one.startswith(asked[0])) for one in names.split()[:1]) + sum(word in names for word in asked)
    )
