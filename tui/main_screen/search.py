"""Search: show the hits, in an order that is stable under the cursor.

Keyword hits come first, those of embeddings are merged later; the selected hit stays selected and on its line. While
the search bar has the focus the others are reordered around it; once the hits have it, all visible ones stay in place
and new ones are added below. Enter waits briefly for embeddings, and selects the best hit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.widgets import Input

from store.base.errors import MemorandaError
from store.base.models import Step
from store.base.vocabulary import SEARCHABLE
from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.query_parser import query_hints
from store.search.results import Hit, SearchAnswer, WordMarker
from tui.input.key_table import HITS, INBOX, key_name
from tui.input.verb_table import typed_command
from tui.lists.record_rows import HitGroups, HitRows
from tui.panes.controllers import Host, SearchFilters
from tui.render.search_results import (
    RECENT_QUERIES,
    group_hits,
    none_exact_words,
    nothing_found_text,
    score_table,
    search_suggestions,
    shown_words,
)
from tui.theme.escape import visible
from tui.theme.line_filters import Piece, fit_cells, pieces_width
from tui.widgets.inputs import YES_ANSWERS, SearchBar
from tui.widgets.record_list import RecordList

# The filters of a search: the kinds of what was found, and how a filter that is being typed goes on.


RELATED_KINDS = frozenset((*SEARCHABLE, "chunk"))  # record kinds that support a search for related ones
PATIENCE_SECONDS = 0.4  # maximum seconds that Enter waits for embeddings


class SearchController:
    """Runs searches, and shows the hits."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.active = False  # whether hits replace the lists
        self._to_hits = False  # whether Enter was pressed before the answer was complete
        self._answer: SearchAnswer | None = None  # the newest answer, until its timing is recorded
        self.filters = SearchFilters(host, lambda: self._bar.query_text, self._ask_again)
        self._notes: list[Piece] = []  # what could not be searched as asked
        self._told: list[list[Piece]] = []  # what else the answer says about itself, and shorter
        self._marker: WordMarker | None = None  # of the query's words
        self._rows: HitRows | None = None  # of the newest answer
        self._hits: Sequence[Hit] = ()  # in the order shown, without the nearest of a search that found nothing
        self._why = False  # whether the preview explains the rank of a hit

    @property
    def _bar(self) -> SearchBar:
        return self.host.search_bar

    @property
    def _list(self) -> RecordList:
        return self.host.list_of(HITS)

    def action_search(self) -> None:
        engine = self.host.engine
        self._bar.focus_input(engine.screen.search.log.recent_queries() if engine is not None else ())
        if not self._bar.query_text.strip():
            self._show_hints()
        self.filters.count_facets()

    def _show_hints(self) -> None:
        """Show recent queries and filters beside an empty bar."""
        engine = self.host.engine
        if engine is not None:
            citation = getattr(self.host.pane.record, "citation", "")
            self.host.pane.tell(
                search_suggestions(engine.screen.search.log.recent_queries(RECENT_QUERIES), citation)
            )

    def action_search_for(self, query: str) -> None:
        """Search for the query of a clicked link."""
        self.search_for(query)

    def search_for(self, query: str) -> None:
        """Search, as if typed in the search bar."""
        self._bar.search_for(query)

    def repeat(self) -> None:
        """Repeat the search, because the memory has changed."""
        if self.active:
            self._bar.repeat()

    def vectors_came(self, all_of_them: bool) -> None:
        """Repeat the search after new embeddings; before the last of them only if there are no hits or the user is
        still typing."""
        if self.active and (all_of_them or not self._hits or not self._is_in_hits):
            self._bar.repeat()

    @property
    def _is_in_hits(self) -> bool:
        """Tell whether the focus has moved from the search bar to the hits."""
        focused = self.host.focused
        return focused is None or focused.id != "query"

    def action_to_hits(self) -> None:
        if self.active:
            self._list.focus()

    def action_hit(self, step: int) -> None:
        """Move to the next hit, whichever widget has the focus."""
        if self.host.alone == "preview":
            self.host.list_of(self.host.current_list).action_move(step)
        elif self.active:
            if self.host.focused is not self.host.pane.preview:  # keep the focus in the preview
                self._list.focus()
            self._list.action_move(step)
        elif self.host.current == INBOX and step > 0:
            self.host.app.call_later(self.host.app.run_action, "screen.change('inbox.later')")
        else:
            self.host.say(
                f"{key_name('search.next')} goes to the next hit of a search; {key_name('search.open')} starts one.",
                "warning",
            )

    def action_related(self) -> None:
        """Search for records similar to the record shown."""
        record = self.host.pane.record
        if record is None or isinstance(record, Step) or type(record).__name__.lower() not in RELATED_KINDS:
            self.host.say("Nothing is selected that something could be similar to.", "warning")
        else:
            self.search_for(f"related:{record.citation} ")

    def action_complete_filter(self, text: str) -> None:
        """Complete the filter that is being typed, for a click."""
        self.filters.complete(text)

    def _ask_again(self, query: str) -> None:
        """Search for another query; among the hits, stay there."""
        self._bar.search_for(query, focus=not self._is_in_hits)

    # explanation of a hit

    def action_why(self) -> None:
        """Show or hide the explanation above the hit in the preview."""
        if not self.active:
            self.host.say(f"{key_name('search.why')} says why a search found something.", "warning")
            return
        self._why = not self._why
        self.host.follow(self._list)

    def preview(self, source: RecordList) -> bool:
        """Show a hit in the preview; return False if the list's cursor is on none."""
        hit = self._hit_at(source.cursor_index) if source.id == HITS else None
        if hit is None:
            return False
        self.host.pane.follow(hit.record, score_table(hit) if self._why else (), self._marker, hit.start)
        return True

    def _hit_at(self, index: int | None) -> Hit | None:
        rows = self._rows
        return rows.hit(index) if rows is not None and index is not None and index < len(rows) else None

    # hits

    def show_answer(self, event: SearchBar.Found) -> None:
        if self.host.engine is None:
            return
        answer = self._answer = event.answer
        new = not event.again and not event.late
        fresh = new or (event.late and self._to_hits)  # the user has not seen any hits yet
        if new:
            self._activate(True)
            self.host.enter_hits()
            self._list.unmark()
        held = event.late and not fresh and self._is_in_hits and bool(self._hits)
        self._marker = self._marker_of(answer)
        groups = self._group_hits(answer, held, stay=not (fresh or event.again))
        said = self._none_exact(answer)
        self._show_hits([(said, []), *groups] if said else groups, keep=not fresh)
        self._show_title(answer, event.offers, held)
        self._explain_empty(answer, event.offers)
        if fresh:
            self.host.follow(self._list)
        self._go_to_hits(False)

    def _marker_of(self, answer: SearchAnswer) -> WordMarker | None:
        if answer.words is None or self.host.engine is None:
            return None
        words, index = answer.words, FullTextIndex(self.host.engine.screen.database)
        return WordMarker(index.tokenizer, words.kept, words.prefix, words.literal)

    def _explain_empty(self, answer: SearchAnswer, offers: Mapping[str, Sequence[str]]) -> None:
        assert self.host.engine is not None
        meaning = self.host.engine.screen.search.meaning
        model = meaning is not None and meaning.has_vectors
        query, coming = self._bar.query_text, self.host.embedding_under_way
        self._list.empty_text = nothing_found_text(query, answer, offers, model, coming)

    def _group_hits(self, answer: SearchAnswer, held: bool, stay: bool) -> HitGroups:
        """Group the hits by level. If `held`, all visible ones keep their lines and the others follow; else, to `stay`,
        the selected one keeps its line as far as its group allows."""
        shown, rows, query = self._list, self._rows, self._bar.query_text
        if held and stay and rows is not None:
            count = min(len(rows), round(shown.scroll_offset.y) + shown.size.height)
            waiting = {hit.key for hit in answer.waiting}
            seen = [hit for index in range(count) if (hit := rows.hit(index)) is not None]
            visible_hits = [hit for hit in seen if hit.key not in waiting]
            keys = {hit.key for hit in visible_hits}
            return group_hits(query, answer, visible_hits, [hit for hit in answer.hits if hit.key not in keys])
        groups = group_hits(query, answer)
        above = int(bool(self._none_exact(answer)))
        if not stay or shown.cursor_index is None or not answer.hits:
            return groups
        for heading, hits in groups:
            above += bool(heading)
            mine = next((hit for hit in hits if hit.key == shown.cursor_key), None)
            if mine is not None:
                hits.remove(mine)
                hits.insert(max(0, shown.cursor_index - above), mine)
                break
            above += len(hits)
        return groups

    def _show_hits(self, groups: HitGroups, keep: bool) -> None:
        assert self.host.engine is not None
        nearest = self._answer.nearest if self._answer is not None else ()
        self._hits = [hit for _, hits in groups for hit in hits if hit not in nearest]
        self._rows = HitRows(groups, self.host.engine.screen.now)
        self._list.set_rows(self._rows, keep=keep)
        self.host.select_wanted(HITS)

    def _none_exact(self, answer: SearchAnswer) -> str:
        """Return the first line of the list where no record contains what was asked."""
        some = answer.hits or answer.nearest or answer.waiting
        return none_exact_words(self._bar.query_text, answer) if some else ""

    def _show_title(self, answer: SearchAnswer, offers: Mapping[str, Sequence[str]], held: bool) -> None:
        """Show the kinds of what was found, and what the answer reports about itself, in the line over the hits."""
        sorted_hits = [hit.key for _, hits in group_hits(self._bar.query_text, answer) for hit in hits]
        shown = shown_words(answer)
        if held and [hit.key for hit in self._hits] != sorted_hits:
            shown = f"more under Near below; {key_name('search.open')} enter sorts"
        notes: list[Piece] = [(f"  {note}", "$text-warning") for note in answer.notes]
        self._refused, self._notes = notes[: answer.refused], notes[answer.refused :]
        self._notes += [(f"  {hint}", "$text-warning") for hint in query_hints(self._bar.query_text)]
        coming = self.host.embedding_under_way
        told: list[Piece] = [(f"  indexing{coming}", "$text-warning")] if coming is not None else []
        if answer.nearest and not answer.hits:
            self._notes += [(f"  Did you mean {visible(' or '.join(words))}?", "$dim") for words in offers.values()]
        if answer.left_out:
            told.append((f"  {answer.left_out:,} hidden", "$dim"))
        ways = ("; is:forgotten, is:replaced show them", ": is:forgotten, is:replaced") if answer.left_out else ()
        self._told = [[*told, (how, "$dim"), (f"  {shown} " if shown else " ", "$dim")] for how in (*ways, "")]
        self.filters.count_found(answer)
        self.host.draw_titles()

    def draw_title(self) -> None:
        """Draw the line over the hits."""
        bar = self.host.bar("chips")
        if bar is None:
            return
        marked = len(self._list.marks)
        marks: list[Piece] = [(f" {marked:,} marked ", "$text-accent", "unmark")] if marked else []
        whole = bar.size.width or 80
        refused: list[Piece] = [(fit_cells(piece[0], whole // 2).rstrip(), *piece[1:]) for piece in self._refused]
        room = whole - pieces_width(marks) - pieces_width(refused) - 1
        notes = pieces_width(self._notes)
        right = next((told for told in self._told if notes + pieces_width(told) < room // 2), [])
        left = self.filters.chips(room - pieces_width(right) - min(notes, room // 2))
        bar.put_both([*marks, *refused, *left, *self._notes], right)

    def fit(self) -> None:
        """In a narrow layout, shrink the list to the height of its hits once it has the focus, which leaves the rest to
        the preview. While typing, the list keeps its half, so that nothing moves."""
        hits = self.host.list_if_mounted(HITS)
        if hits is None:
            return
        most = self.host.app.size.height // 2 - 2
        if self.host.form == "-narrow" and self._is_in_hits and 0 < (lines := hits.height_of_rows(most)) < most:
            self.host.size_hits(lines)
        else:
            self.host.size_hits("4fr" if self.host.form == "-narrow" else "1fr")

    # focus

    def enter(self, event: SearchBar.Entered) -> None:
        command, certain = typed_command(self._bar.query_text) if event.submitted else ("", False)
        if certain:
            self._run(command)
        elif command:
            self._ask_whether(command)
        else:
            self._enter_hits()

    def _run(self, command: str) -> None:
        self._leave()
        self.host.app.call_later(self.host.run_line, command)  # once the list has the focus

    def _ask_whether(self, command: str) -> None:
        """Ask whether to run words that would be a command after `:`."""
        run = lambda text: self._run(command) if text.lower() in YES_ANSWERS else self._enter_hits()  # noqa: E731
        self.host.ask(f"Run “{command[:60]}”? y/n (n searches)", "", run, one_key=True)

    def _enter_hits(self) -> None:
        bar = self._bar
        if bar.waiting or bar.thinking:
            self._to_hits = True
            if not bar.waiting:
                self._be_patient()
        else:
            self._go_to_hits(True)

    def _be_patient(self) -> None:
        """Wait for embeddings, at most PATIENCE seconds."""
        number = self._bar.number
        self.host.call_after(
            PATIENCE_SECONDS, lambda: self._go_to_hits(self._to_hits and number == self._bar.number)
        )

    def _go_to_hits(self, now: bool) -> None:
        """Focus the hits if Enter was pressed; keys typed after it are for the hits."""
        if self._to_hits and not now and self._bar.thinking:
            self._be_patient()
        elif now or self._to_hits:
            self._to_hits = False
            self._keep()
            if self.active:
                self.host.set_focus(self._list)
            self.host.app.release_keys()  # type: ignore[attr-defined]

    def _keep(self) -> None:
        """Add the query to the history, after the user moved on to its hits."""
        query = self._bar.query_text
        answer, self._answer = self._answer, None

        def work(memory: Memory) -> None:
            memory.search.log.add_query(query)
            if answer is not None:
                memory.search.log.log_answer(answer)

        def done(result: object, error: MemorandaError | None) -> None:
            if error is not None:
                self.host.later(self.host.say, str(error), "warning")

        if self.host.engine is not None and query.strip() and self.active and not self.host.view.past:
            self.host.engine.write(work, done)

    def leave_or_clear(self, event: SearchBar.Cleared) -> None:
        if event.left:
            self._leave()
        else:
            self.end_search()
            self._show_hints()

    def show_error(self, event: SearchBar.Failed) -> None:
        self.host.say(str(event.error), "error")

    def _activate(self, active: bool) -> None:
        self.active = active
        self.host.set_class(active, "-searching")

    def end_search(self) -> None:
        """Clear the bar, and show the lists again."""
        self._to_hits = False
        self._bar.clear()
        self._activate(False)
        self.host.leave_hits()

    def action_leave_search(self) -> None:
        """Escape, for a click."""
        self._leave()

    def _leave(self) -> None:
        self.end_search()
        self.host.go_to(self.host.current)

    def leave_bar(self) -> bool:
        """Close the search bar while it has the focus."""
        typing = isinstance(self.host.focused, Input)
        if typing:
            self._leave()
        return typing

    def leave(self) -> bool:
        """Leave the hits."""
        active = self.active
        if active:
            self._leave()
        return active
