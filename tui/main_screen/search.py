"""Search: show the hits in the list, in an order that is stable under the cursor.

Keyword hits come first, those of embeddings are merged later; the selected hit stays selected and on its line. While
the find line has the focus the others are reordered around it; once the hits have it, all visible ones stay in place
and new ones are added below. Enter waits briefly for embeddings, and selects the best hit. A line that is a command is
done, and one that is a question is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from store.base.citations import parse_citation
from store.base.errors import MemorandaError
from store.base.vocabulary import SEARCHABLE
from store.memory import Memory
from store.search.fulltext import FullTextIndex
from store.search.lookup import get_record
from store.search.query_parser import query_hints
from store.search.results import Hit, SearchAnswer, WordMarker
from store.text.display import visible
from tui.input.key_table import ASK, key_name
from tui.input.verb_table import find_verb, is_command
from tui.lists.filters import (
    KIND_FILTER,
    Facet,
    complete_filter,
    facet_chips,
    filter_completions,
    filters_in_query,
    found_kinds,
    narrow_query,
    next_choice,
    search_facets,
)
from tui.lists.record_rows import HitGroups, ListedRows, hit_rows
from tui.main_screen.acting import ActingScreen, split_words
from tui.main_screen.places import FOUND_PANE, NO_ROWS, Place, citation_of
from tui.panes.facts import read_facets
from tui.panes.pane import Loaded, View
from tui.render.search_results import (
    RECENT_QUERIES,
    group_hits,
    none_exact_words,
    nothing_found_text,
    score_table,
    search_suggestions,
    shown_words,
)
from tui.screens.base import KEY_LOOK, key_pieces
from tui.theme.line_filters import Piece, fit_cells, pieces_width
from tui.widgets.inputs import SearchBar

# record kinds that support a search for related ones
RELATED_KINDS = frozenset((*SEARCHABLE, "chunk"))
# maximum seconds that Enter waits for embeddings
PATIENCE_SECONDS = 0.4
FILTERS_HINT = "  kind: domain: is: tag: author: iteration: since: before: related:"
QUESTION_MARKS = ("?", "¿")


class SearchingScreen(ActingScreen):
    """Runs searches from the find line, and shows the hits in the list."""

    # whether Enter was pressed before the answer was complete
    _to_hits = False
    # the newest answer
    _answer: SearchAnswer | None = None
    # the same, until its timing is recorded
    _unlogged: SearchAnswer | None = None
    # of the query's words
    _marker: WordMarker | None = None
    # in the order shown, without the nearest of a search that found nothing
    _hits: Sequence[Hit] = ()
    # whether the preview explains the rank of a hit
    _why = False
    # what could not be searched as asked
    _notes: Sequence[Piece] = ()
    # what else the answer says about itself, and shorter
    _told: Sequence[Sequence[Piece]] = ()
    # of what was found without the filter for a kind
    _kinds = found_kinds({})
    # the query without that filter, of which they are
    _counted: str | None = None
    # by what a search can be narrowed, once counted
    _search_facets: Sequence[Facet] = ()

    # the find line

    def action_find(self) -> None:
        """Open the find line: in some views it narrows their rows, elsewhere it searches everything."""
        bar = self.search_bar
        bar.focus_input(self.engine.screen.search.log.recent_queries())
        if not bar.query_text.strip() and not self.place.pane.finds:
            self._show_hints()
        self.engine.read("facets", _read_search_facets, self._set_facets)
        self.draw_footer()
        if self.searching:
            self._fit()

    def _show_hints(self) -> None:
        """Show recent queries and filters beside an empty line."""
        recent = self.engine.screen.search.log.recent_queries(RECENT_QUERIES)
        self.pane.tell(search_suggestions(recent, citation_of(self.pane.record)))

    def action_search_for(self, query: str) -> None:
        """Search for the query of a clicked link."""
        self.search_for(query)

    def memory_changed(self) -> None:
        """Repeat the search, because the memory changed."""
        if self.searching:
            self.search_bar.repeat()

    def vectors_came(self, all_of_them: bool) -> None:
        """Repeat the search after new embeddings; before the last of them only if there are no hits or the person is
        still typing."""
        if self.searching and (all_of_them or not self._hits or not self._is_in_hits):
            self.search_bar.repeat()

    @property
    def _is_in_hits(self) -> bool:
        """Tell whether the focus has moved from the find line to the hits."""
        return self.focused is None or self.focused.id != "query"

    def on_search_bar_typed(self) -> None:
        """Narrow the rows of a view by what is typed; in others say what Enter does."""
        place = self.place
        if place.pane.finds:
            self.narrow(place.view.choose(words=self.search_bar.query_text.strip()))
        self.draw_footer()

    def on_search_bar_entered(self, event: SearchBar.Entered) -> None:
        """Do the command that is typed, ask the question, or go to the hits."""
        text = self.search_bar.query_text.strip()
        if self.place.pane.finds:
            self.set_focus(self.record_list)
            if self.place.narrowed:
                # they are for what has the words
                self.application.hold_keys("rows")
            self.application.release_keys()
        elif event.submitted and self._is_command(text):
            self.action_leave_search()
            # once the list has the focus
            self.app.call_later(self.run_line, text)
            self.app.call_later(self.application.release_keys)
        elif event.submitted and self._is_question(text):
            self.action_leave_search()
            self.app.call_later(self.ask_question, text)
        else:
            self._enter_hits()

    def _enter_does(self, text: str) -> str:
        """Return what Enter does with a line that is no search."""
        return "does it" if self._is_command(text) else "asks it" if self._is_question(text) else ""

    def _is_command(self, text: str) -> bool:
        """Tell whether a line is a command: it begins with a slash or `memory`, or it is a verb with a record that
        there is."""
        words = split_words(text.removeprefix(":")) if text else []
        return is_command(words) or (any(map(self._is_there, words[1:])) and find_verb(words) is not None)

    def _is_there(self, word: str) -> bool:
        """Tell whether a word is the citation of a record that there is."""
        try:
            get_record(self.engine.screen.database, parse_citation(word))
        except MemorandaError:
            return False
        return True

    def _is_question(self, text: str) -> bool:
        """Tell whether a line is asked: it looks like a question, or it is typed among the questions."""
        asked = text.endswith(QUESTION_MARKS[0]) or text.startswith(QUESTION_MARKS)
        # Enter may come before the first hits
        here = self.came_from if self.searching else self.place
        return bool(text) and (asked or (here.pane.name == ASK and not filters_in_query(text)))

    def on_search_bar_cleared(self, event: SearchBar.Cleared) -> None:
        if self.place.pane.finds:
            self.narrow(self.place.view.choose(words=None))
        if event.left:
            self.action_leave_search()
        elif self.searching:
            self._show_before()
            self._show_hints()

    def on_search_bar_failed(self, event: SearchBar.Failed) -> None:
        self.say(str(event.error), "error")

    # the hits

    def on_search_bar_found(self, event: SearchBar.Found) -> None:
        if self.place.pane.finds:
            return
        answer = self._answer = self._unlogged = event.answer
        new = not event.again and not event.late
        # the person has not seen any hits yet
        fresh = new or (event.late and self._to_hits)
        if not self.searching:
            self._show_found()
        if new:
            self.record_list.unmark()
        held = event.late and not fresh and self._is_in_hits and bool(self._hits)
        self._marker = self._marker_of(answer)
        groups = self._group_hits(answer, held, stay=not (fresh or event.again))
        self._show_hits([(one, []) for one in self._first_lines(answer)] + list(groups), keep=not fresh)
        self._explain(answer, event.offers, held)
        if fresh:
            self.show_cursor()
        self._go_to_hits(False)

    def _show_found(self) -> None:
        """Let the hits take the place of the list."""
        before, shown = self.place, self.record_list
        before.key, before.marks = shown.cursor_key, frozenset(shown.marks)
        self.came_from = before
        self.place = self.places[FOUND_PANE.name] = Place(FOUND_PANE)
        shown.unmark()
        shown.set_rows(NO_ROWS, keep=False)

    def _show_before(self) -> None:
        """Show the list again that the hits took the place of."""
        self._hits, self._why = (), False
        # so that the cursor of the hits is not kept
        self.place = Place(FOUND_PANE)
        focused = self.focused
        self.show_place(self.came_from)
        if focused is not None and focused.id == "query":
            self.set_focus(focused)

    def _first_lines(self, answer: SearchAnswer) -> list[str]:
        """Return the lines above the hits: what Enter does, and that no record contains what was asked."""
        text = self.search_bar.query_text.strip()
        does = "enter asks it" if self._is_question(text) else ""
        if self._is_command(text):
            does = f"enter does it:  {text}"
        some = answer.hits or answer.nearest or answer.waiting
        none = none_exact_words(self.search_bar.query_text, answer) if some else ""
        return [one for one in (does, none) if one]

    def _marker_of(self, answer: SearchAnswer) -> WordMarker | None:
        if answer.words is None:
            return None
        words, index = answer.words, FullTextIndex(self.engine.screen.database)
        return WordMarker(index.tokenizer, words.kept, words.prefix, words.literal)

    def _group_hits(self, answer: SearchAnswer, held: bool, stay: bool) -> HitGroups:
        """Group the hits by level. If `held`, all visible ones keep their lines and the others follow; else, to `stay`,
        the selected one keeps its line as far as its group allows."""
        shown, rows, query = self.record_list, self.record_list.rows, self.search_bar.query_text
        if held and stay and isinstance(rows, ListedRows):
            count = min(len(rows), round(shown.scroll_offset.y) + shown.size.height)
            waiting = {hit.key for hit in answer.waiting}
            seen = [hit for index in range(count) if (hit := rows.rows[index].hit) is not None]
            visible_hits = [hit for hit in seen if hit.key not in waiting]
            keys = {hit.key for hit in visible_hits}
            return group_hits(query, answer, visible_hits, [hit for hit in answer.hits if hit.key not in keys])
        groups = group_hits(query, answer)
        above = len(self._first_lines(answer))
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
        nearest = self._answer.nearest if self._answer is not None else ()
        self._hits = [hit for _, hits in groups for hit in hits if hit not in nearest]
        rows = hit_rows(groups, self.engine.screen.now)
        self.place.loaded = Loaded(rows)
        self.record_list.set_rows(rows, keep=keep)
        if self.wanted is not None and self.record_list.select(self.wanted):
            self.wanted = None

    def _explain(self, answer: SearchAnswer, offers: Mapping[str, Sequence[str]], held: bool) -> None:
        """Say what the answer reports about itself, and what an empty list means."""
        meaning, query = self.engine.screen.search.meaning, self.search_bar.query_text
        model = meaning is not None and meaning.has_vectors
        coming = self.engine.embedder.under_way
        self.record_list.empty_text = nothing_found_text(query, answer, offers, model, coming)
        sorted_hits = [hit.key for _, hits in group_hits(query, answer) for hit in hits]
        shown = shown_words(answer)
        if held and [hit.key for hit in self._hits] != sorted_hits:
            shown = f"more under Near below; {key_name('search.open')} enter sorts"
        notes: list[Piece] = [
            (f"  {fit_cells(note, min(len(note), 60))}", "$text-warning") for note in answer.notes
        ]
        notes += [(f"  {hint}", "$text-warning") for hint in query_hints(query)]
        told: list[Piece] = [(f"  indexing{coming}", "$text-warning")] if coming is not None else []
        if answer.nearest and not answer.hits:
            notes += [(f"  Did you mean {visible(' or '.join(words))}?", "$dim") for words in offers.values()]
        if answer.left_out:
            told.append((f"  {answer.left_out:,} hidden", "$dim"))
        ways = ("; is:forgotten, is:replaced show them", ": is:forgotten, is:replaced") if answer.left_out else ()
        self._notes = notes
        self._told = [[*told, (how, "$dim"), (f"  {shown} " if shown else " ", "$dim")] for how in (*ways, "")]
        self._count_kinds(answer)
        self.draw_all()

    def title_pieces(self, room: int) -> tuple[list[Piece], list[Piece]]:
        """Return the line above the hits: their kinds, and what the answer says."""
        if not self.searching:
            return super().title_pieces(room)
        marks = self.marks_pieces()
        room -= pieces_width(marks) + 1
        notes = pieces_width(self._notes)
        right = next((told for told in self._told if notes + pieces_width(told) < room // 2), [])
        chips = facet_chips(self._kinds, self._filters, room - pieces_width(right) - min(notes, room // 2))
        return [*marks, *chips, *self._notes], list(right)

    # by what a search is narrowed

    @property
    def _filters(self) -> dict[str, str]:
        """The filters of the query: field → value."""
        return filters_in_query(self.search_bar.query_text)

    @property
    def facets(self) -> Sequence[Facet]:
        return (self._kinds, *self._search_facets[1:]) if self.searching else super().facets

    def _ask_again(self, filters: Mapping[str, str]) -> None:
        """Search with these filters in place of the query's; among the hits, stay there."""
        query = narrow_query(self.search_bar.query_text, filters)
        self.search_bar.search_for(query, focus=not self._is_in_hits)

    def narrow(self, view: View) -> None:
        if self.searching:
            given = {field: value for field, value in view.chosen if field.endswith(":")}
            self._ask_again({**dict.fromkeys(self._filters, ""), **given})
        else:
            super().narrow(view)

    def action_next_chip(self) -> None:
        if self.searching:
            self._ask_again({KIND_FILTER: next_choice(self._kinds, self._filters.get(KIND_FILTER)) or ""})
        else:
            super().action_next_chip()

    @property
    def view(self) -> View:
        return View(tuple(self._filters.items())) if self.searching else super().view

    def _count_kinds(self, answer: SearchAnswer) -> None:
        """Count what was found by kind; under a filter for a kind the others stay as they were counted without it."""
        asked = narrow_query(self.search_bar.query_text, {KIND_FILTER: ""})
        filtered = KIND_FILTER in self._filters
        if filtered and asked == self._counted:
            return
        whole = not filtered and answer.total == len(answer.hits)
        self._counted = asked
        shown = Counter(hit.kind for hit in answer.hits)
        self._kinds = found_kinds(shown, whole)._replace(total=None if filtered else answer.total)
        if not whole:
            self.engine.read(
                "kinds",
                lambda memory: memory.search.count_by_kind(asked),
                lambda counts: self._show_numbers(asked, shown, counts),
            )

    def _show_numbers(self, asked: str, shown: Counter[str], counts: Mapping[str, int]) -> None:
        """Show how many records of each kind were found; by meaning alone at least those that are `shown`."""
        if counts and asked == self._counted:
            every = {kind: max(counts.get(kind, 0), shown[kind]) for kind in {*counts, *shown}}
            known = self._kinds.total
            self._kinds = found_kinds(every)._replace(total=sum(every.values()) if known is None else known)
            self.draw_titles()

    def _set_facets(self, facets: Sequence[Facet]) -> None:
        self._search_facets = facets
        self.draw_footer()

    def _completions(self) -> Sequence[tuple[str, int | None]]:
        """Return how the filter that is being typed may go on, with numbers of records."""
        return filter_completions(self.search_bar.query_text, self._search_facets)

    def action_complete_filter(self, text: str = "") -> bool:
        """Complete the filter that is being typed by `text`, or by the first completion; return False if there is
        none."""
        found = self._completions()
        if found:
            self.search_bar.search_for(complete_filter(self.search_bar.query_text, text or found[0][0]))
        return bool(found)

    # what keys do with hits

    def show_cursor(self, stay: bool = False) -> None:
        """Show what is under the cursor; a hit with its words marked, and how it came to its rank if that is asked."""
        rows, index = self.record_list.rows, self.record_list.cursor_index
        hit = rows.rows[index].hit if isinstance(rows, ListedRows) and index is not None else None
        if hit is None:
            super().show_cursor(stay)
        elif not stay:
            self.pane.follow(hit.record, score_table(hit) if self._why else (), self._marker, hit.start)

    def action_why(self) -> None:
        """Show or hide why the hit was found, above it in the preview."""
        if not self.searching:
            self.say("It says why a search found something: search first.", "warning")
            return
        self._why = not self._why
        self.show_cursor()

    def action_related(self) -> None:
        """Search for records similar to the record shown."""
        record = self.pane.record
        if type(record).__name__.lower() in RELATED_KINDS:
            self.search_for(f"related:{citation_of(record)} ")
        else:
            self.say("Nothing is selected that something could be similar to.", "warning")

    # going to the hits, and leaving them

    def _enter_hits(self) -> None:
        bar = self.search_bar
        if bar.waiting or bar.thinking:
            self._to_hits = True
            if not bar.waiting:
                self._be_patient()
        else:
            self._go_to_hits(True)

    def _be_patient(self) -> None:
        """Wait for embeddings, at most PATIENCE_SECONDS."""
        bar, number = self.search_bar, self.search_bar.number
        self.set_timer(PATIENCE_SECONDS, lambda: self._go_to_hits(self._to_hits and number == bar.number))

    def _go_to_hits(self, now: bool) -> None:
        """Focus the hits if Enter was pressed; keys typed after it are for the hits."""
        if self._to_hits and not now and self.search_bar.thinking:
            self._be_patient()
        elif now or self._to_hits:
            self._to_hits = False
            self._keep_query()
            self.set_focus(self.record_list)
            self._fit()
            self.draw_footer()
            self.application.release_keys()

    def divide(self) -> None:
        """Where it is narrow, leave to the preview the room that hits do not need; while one types the list keeps its
        height, so that nothing moves."""
        super().divide()
        most = self.app.size.height // 2 - 2
        if self.searching and self._is_in_hits and self.form == "-narrow":
            lines = self.record_list.height_of_rows(most)
            self.record_list.styles.height = lines if 0 < lines < most else None

    def _fit(self) -> None:
        if self.form == "-narrow":
            self.divide()

    def action_to_hits(self) -> None:
        self._go_to_hits(True)

    def _keep_query(self) -> None:
        """Add the query to the history, after the person moved on to its hits."""
        query = self.search_bar.query_text
        answer, self._unlogged = self._unlogged, None

        def work(memory: Memory) -> None:
            memory.search.log.add_query(query)
            if answer is not None:
                memory.search.log.log_answer(answer)

        def done(result: object, error: MemorandaError | None) -> None:
            if error is not None:
                self.say(str(error), "warning")

        if query.strip() and self.searching and self.engine.past is None:
            self.engine.write(work, done)

    def end_search(self) -> None:
        """Clear the find line; where hits were shown, what they took the place of is the place again."""
        self._to_hits = False
        self.search_bar.clear()
        if self.searching:
            self._hits, self._why = (), False
            self.place = self.came_from
            self._fit()

    def action_leave_search(self) -> None:
        """Clear the find line, and show the list again."""
        was = self.searching
        self._to_hits = False
        self.search_bar.clear()
        if was:
            self.place = Place(FOUND_PANE)
            self.show_place(self.came_from)
            self._fit()
        else:
            self.set_focus(self.record_list)
            self.show_cursor()
            self.draw_all()

    def draw_footer(self) -> None:
        """Show how a query may go on while it is typed."""
        if not self.is_attached or self._is_in_hits:
            super().draw_footer()
        elif found := self._completions():
            pieces: list[Piece] = [(" tab ", KEY_LOOK, f"complete_filter({found[0][0]!r})")]
            for text, count in found:
                number, action = "" if count is None else f" {count:,}", f"complete_filter({text!r})"
                pieces += [(f" {visible(text)}", "", action), (f"{number} ", "$dim", action)]
            self.put_footer(*pieces)
        else:
            text = self.search_bar.query_text.strip()
            does = "to these" if self.place.pane.finds else self._enter_does(text) or "goes to what was found"
            rest = "" if self.place.pane.finds else FILTERS_HINT
            self.put_footer(
                *key_pieces(("enter", does, "to_hits"), ("esc", "leaves", "leave_search")),
                (rest, "", "leave_search"),
            )


def _read_search_facets(memory: Memory) -> Sequence[Facet]:
    """Count by what a search can be narrowed: the records of each kind, the tags in use, and the authors of commits;
    the highest numbers first."""
    rows = memory.database.rows(
        "SELECT 'fact', count(*) FROM facts WHERE status = 'active'"
        " UNION ALL SELECT 'task', count(*) FROM tasks UNION ALL SELECT 'turn', count(*) FROM turns"
    )
    wrote = memory.database.rows(
        "SELECT author FROM commits WHERE author <> '' GROUP BY 1 ORDER BY count(*) DESC, 1"
    )
    kinds = {**memory.timeline.count_kinds(), **dict(rows)}
    authors = [author for (author,) in wrote]
    return search_facets(read_facets(memory), kinds, memory.tagging.list_tags(), authors)
