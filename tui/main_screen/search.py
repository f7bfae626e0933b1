"""The main screen's search: what was found, in an order that never moves under the person's hands.

Keywords answer first, and meaning joins them later. What is selected then stays selected and on its line. While the
person is still in the bar the others order themselves around it; once the person went into the hits, all that is on
the screen stays where it is, and what meaning found stands below. Enter waits a moment for meaning, and goes to the
best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from store.base.errors import MemorandaError
from store.base.models import Step
from store.base.vocabulary import SEARCHABLE
from store.search.query_parser import filters
from tui.input.key_table import named
from tui.main_screen.checkpoints import RecoveringScreen
from tui.render.empty_results import RECENT, before_asking, unfound
from tui.theme.escape import visible
from tui.theme.pieces import Piece
from tui.widgets.bars import Split
from tui.widgets.record_list import RecordList
from tui.widgets.search_bar import SearchBar

if TYPE_CHECKING:
    from store.memory import Memory
    from store.search.results import Answer, Hit
    from store.search.snippets import Marker

KINDS = frozenset((*SEARCHABLE, "chunk"))  # of records that can be related to others
PATIENCE = 0.4  # seconds that Enter waits for meaning


class SearchingScreen(RecoveringScreen):
    """Asks, and shows what was found."""

    _to_hits = False  # whether the person pressed Enter before all was found
    _answer: Answer | None = None  # the newest, until it is noted how it fared
    _found: tuple[list[Piece], list[Piece]] = ([], [])  # both parts of the title over what was found
    _hits: Sequence[Hit] = ()  # in the order in which they are shown
    _marker: Marker | None = None  # of the words that were looked for
    _why = False  # whether it is shown why a hit is there

    def action_search(self) -> None:
        bar = self.query_one(SearchBar)
        bar.start(self.engine.screen.search.asked.recent() if self.engine is not None else ())
        if not bar.query_text.strip():
            self._teach()

    def _teach(self) -> None:
        """Beside an empty bar: what was asked before, and what narrows a search."""
        if self.engine is not None:
            citation = getattr(self.pane.record, "citation", "")
            self.pane.tell(before_asking(self.engine.screen.search.asked.recent(RECENT), citation))

    def action_search_for(self, query: str) -> None:
        """Search for what a click stands for."""
        self.search_for(query)

    def search_for(self, query: str) -> None:
        """Search, as if typed in the search bar."""
        self.query_one(SearchBar).ask(query)

    def action_to_hits(self) -> None:
        if self.has_class("-searching"):
            self.list_of("hits").focus()

    def action_hit(self, step: int) -> None:
        """The next hit, from wherever the person is."""
        if self.has_class("-searching"):
            if self.focused is not self.pane.preview:  # who reads there goes on reading
                self.list_of("hits").focus()
            self.list_of("hits").action_move(step)
        else:
            self.say(
                f"{named('search.next')} goes to the next hit of a search; {named('search.open')} starts one.",
                "warning",
            )

    def action_related(self) -> None:
        """Search for what is near the record that is shown."""
        record = self.pane.record
        if record is None or isinstance(record, Step) or type(record).__name__.lower() not in KINDS:
            self.say("Nothing is selected that something could be related to.", "warning")
        else:
            self.search_for(f"related:{record.citation} ")

    def action_drop_filter(self, number: int) -> None:
        """Take a filter out of the query, as a click on its ✕ does."""
        bar = self.query_one(SearchBar)
        text = bar.query_text
        places = filters(text)
        if number < len(places):
            start, end = places[number]
            bar.ask(" ".join(f"{text[:start]} {text[end:]}".split()))

    # why a hit is there

    def action_why(self) -> None:
        """Show or hide, above the hit in the preview, what put it where it is."""
        if not self.has_class("-searching"):
            self.say(f"{named('search.why')} says why a search found something.", "warning")
            return
        self._why = not self._why
        self.follow(self.list_of("hits"))

    def follow(self, source: RecordList) -> None:
        hit = self._hit_at(source.cursor_index) if source.id == "hits" else None
        if hit is None:
            super().follow(source)
            return
        from tui.render.score_breakdown import table

        self.pane.follow(hit.record, table(hit) if self._why else (), self._marker)

    def _hit_at(self, index: int | None) -> Hit | None:
        return self._hits[index] if index is not None and index < len(self._hits) else None

    # what was found

    def on_search_bar_found(self, event: SearchBar.Found) -> None:
        if self.engine is None:
            return
        answer = self._answer = event.answer
        new = not event.again and not event.late
        fresh = new or (event.late and self._to_hits)  # nobody has looked at anything yet
        if new:
            self._list_id = "hits"
            self.add_class("-searching")
            self.list_of("hits").unmark()
        held = event.late and not fresh and self.entered
        self._marker = self._marker_of(answer)
        hits = answer.hits if fresh or event.again else self._joined(answer.hits, held)
        self._show_hits(hits, keep=not fresh)
        self._tell(answer, held)
        self._teach_unfound(answer, event.offers)
        if fresh:
            self.follow(self.list_of("hits"))
        self._go_to_hits(False)

    def _marker_of(self, answer: Answer) -> Marker | None:
        from store.search.fts import FullTextIndex
        from store.search.snippets import Marker

        if answer.words is None or self.engine is None:
            return None
        return Marker(FullTextIndex(self.engine.screen.database).tokenizer, answer.words.kept, answer.words.prefix)

    def _teach_unfound(self, answer: Answer, offers: Mapping[str, Sequence[str]]) -> None:
        assert self.engine is not None
        meaning = self.engine.screen.search.meaning
        model = meaning is not None and meaning.serves
        query, coming = self.query_one(SearchBar).query_text, self.meaning_coming
        self.list_of("hits").empty_text = unfound(query, answer, offers, model, coming)

    def _joined(self, hits: Sequence[Hit], held: bool) -> Sequence[Hit]:
        """What meaning and keywords found, around the hits that stay on their lines: all that are on the screen where
        they are `held`, else the selected one."""
        shown = self.list_of("hits")
        if held:
            count = round(shown.scroll_offset.y) + shown.size.height
            stay = list(self._hits[:count])
            keys = {hit.key for hit in stay}
            return [*stay, *(hit for hit in hits if hit.key not in keys)]
        mine = next((hit for hit in hits if hit.key == shown.cursor_key), None)
        if mine is None or shown.cursor_index is None:
            return hits
        rest = [hit for hit in hits if hit is not mine]
        return [*rest[: shown.cursor_index], mine, *rest[shown.cursor_index :]]

    def _show_hits(self, hits: Sequence[Hit], keep: bool) -> None:
        from tui.lists.record_rows import HitRows

        assert self.engine is not None
        self._hits = hits
        self.list_of("hits").set_rows(HitRows(hits, self.engine.screen.now), keep=keep)
        self._select_wanted("hits")

    def _tell(self, answer: Answer, held: bool) -> None:
        """Say in the title over the hits what the answer says of itself."""
        shown = f"the best {len(answer.hits)}" if answer.total > len(answer.hits) else "best first"
        if held and [hit.key for hit in self._hits] != [hit.key for hit in answer.hits]:
            shown = f"more by meaning below; {named('search.open')} enter sorts"
        left: list[Piece] = [("FOUND ", ""), (f"{answer.total:,}", "$dim"), *self._chips()]
        left += [(f"  {note}", "$text-warning") for note in answer.notes]
        if answer.left_out:
            room = self.form != "-narrow" or not answer.notes
            how = "; is:forgotten, is:superseded show them" if room else ""
            left.append((f"  {answer.left_out:,} left out{how}", "$faint"))
        self._found = (left, [(shown, "$faint")])
        self._draw_found()

    def _chips(self) -> list[Piece]:
        """The filters of the query, each with what takes it away."""
        text = self.query_one(SearchBar).query_text
        return [
            (f"  {visible(text[start:end])} ✕", "$text-accent", f"drop_filter({number})")
            for number, (start, end) in enumerate(filters(text))
        ]

    def _draw_found(self) -> None:
        """The title over what was found."""
        left, right = self._found
        marked = len(self.list_of("hits").marks)
        marks: list[Piece] = [(f"  {marked:,} marked", "$text-accent", "unmark")] if marked else []
        self.query_one("#hits-title", Split).put_both([*left, *marks], right)

    # from the bar to the hits, and back

    def on_search_bar_entered(self) -> None:
        bar = self.query_one(SearchBar)
        if bar.waiting or bar.thinking:
            self._to_hits = True
            if not bar.waiting:
                self._be_patient()
        else:
            self._go_to_hits(True)

    def _be_patient(self) -> None:
        """Wait for meaning a moment, and no longer."""
        number = self.query_one(SearchBar).number
        self.set_timer(PATIENCE, lambda: self._go_to_hits(self._to_hits and number == self.query_one(SearchBar).number))

    def _go_to_hits(self, now: bool) -> None:
        """To what was found, if Enter was pressed; what was typed behind it is for the hits."""
        if self._to_hits and not now and self.query_one(SearchBar).thinking:
            self._be_patient()
        elif now or self._to_hits:
            self._to_hits = False
            self._keep()
            if self.has_class("-searching"):
                self.set_focus(self.list_of("hits"))
            self.app.release_keys()  # type: ignore[attr-defined]

    def _keep(self) -> None:
        """Remember a question that the person went on from."""
        query = self.query_one(SearchBar).query_text
        answer, self._answer = self._answer, None

        def work(memory: Memory) -> None:
            memory.search.asked.add(query)
            if answer is not None:
                memory.search.timed.add(answer)

        def done(result: object, error: MemorandaError | None) -> None:
            if error is not None:
                self.later(self.say, str(error), "warning")

        if self.engine is not None and query.strip() and self.has_class("-searching") and not self.view.past:
            self.engine.write(work, done)

    def on_search_bar_cleared(self, event: SearchBar.Cleared) -> None:
        if event.left:
            self._leave_search()
        else:
            self._end_search()
            self._teach()

    def on_search_bar_failed(self, event: SearchBar.Failed) -> None:
        self.say(str(event.error), "error")

    def _end_search(self) -> None:
        self._to_hits = False
        self.query_one(SearchBar).clear()
        self.remove_class("-searching")
        if self._list_id == "hits":
            self._list_id = self._current

    def action_leave_search(self) -> None:
        """Escape, for a mouse."""
        self._leave_search()

    def _leave_search(self) -> None:
        self._end_search()
        self.list_of(self._list_id).focus()
