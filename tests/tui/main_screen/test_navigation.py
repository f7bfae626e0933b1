"""The panes: which list is seen, what the tabs and titles say, and that a change of size loses no place."""

import re
from pathlib import Path

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import Clock, Story

from store.base.vocabulary import pack_key
from store.conversations.turns import NewTurn
from store.memory import Memory
from tui.input.key_table import LIBRARIAN, PANE_KEYS, PANE_NAMES
from tui.lists.fact_groups import state_facet
from tui.lists.view_state import PANE_LABELS, View, empty_pane_text, tab_pieces, title_pieces
from tui.main_screen import background as checkpoints
from tui.theme.line_filters import pieces_width
from tui.widgets.record_list import RecordList

Size = tuple[int, int]
SIZES = pytest.mark.parametrize("size", [NARROW, WIDE, HUGE], ids=["80x24", "120x40", "200x60"])


@pytest.fixture
def full(story: Story) -> Story:
    """A memory with more of everything than a screen has lines."""
    with story.open() as memory:
        for number in range(70):
            memory.facts.remember(f"Invoice series {number} is closed", domain="projects")
        for number in range(70):
            memory.tasks.add_task(f"close series {number}")
    return story


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A project without git, whose memory holds nothing yet."""
    folder = tmp_path / "bare"
    with Memory.open(str(folder / ".memoranda" / "memory.db"), "cli", Clock()):
        return folder


LISTED = [pane for pane in PANE_NAMES if pane != LIBRARIAN]  # the panes that are lists


def number_of(pane: str) -> str:
    return PANE_KEYS[pane]


class TestWhichAreSeen:
    async def test_narrow_shows_the_one_the_person_is_in(self, narrow: Person) -> None:
        assert narrow.seen == ["facts"]
        for pane in (*LISTED[1:], "facts"):
            await narrow.press(number_of(pane))
            assert narrow.seen == [pane] and narrow.at == pane
            shown = narrow.main.list_of(pane).region
            assert shown.width == 80 and shown.bottom < narrow.main.pane.region.y + 1, "the preview is below"

    @pytest.mark.parametrize(("size", "share"), [(WIDE, 0.60), (HUGE, 0.56)], ids=["120x40", "200x60"])
    async def test_a_wide_screen_shows_it_beside_the_preview(self, size: Size, share: float, person: Person) -> None:
        assert person.seen == ["facts"]
        for pane in (*LISTED[1:], "facts"):
            await person.press(number_of(pane))
            assert person.seen == [pane] and person.at == pane
            shown, preview = person.main.list_of(pane).region, person.main.pane.region
            beside = 24 if size == HUGE else 0  # the sidebar
            assert (shown.x, shown.right, preview.right) == (beside, preview.x, size[0]), "they fill the screen"
            assert abs(shown.width - share * (size[0] - beside)) < 1

    @SIZES
    async def test_a_pane_is_left_and_found_again_with_its_record(self, full: Story, size: Size) -> None:
        async with opened(full.folder, size) as person:
            held = {}
            for pane in ("facts", "timeline", "history", "tasks"):
                await person.press(number_of(pane), "j", "j", "j")
                held[pane] = person.main.list_of(pane).cursor_key, person.record
                assert person.record is not None
            for pane in ("checkpoints", *held, "health", *reversed(held)):
                await person.press(number_of(pane))
                if pane in held:
                    assert (person.main.list_of(pane).cursor_key, person.record) == held[pane], pane

    @SIZES
    async def test_tab_goes_round_and_back(self, person: Person) -> None:
        order = [*PANE_NAMES[1:], "preview", "facts"]
        visited = []
        for _ in order:
            await person.press("tab")
            visited.append(person.at)
        assert visited == order
        await person.press("shift+tab")
        assert person.at == "preview"
        await person.press("shift+tab")
        assert person.at == order[-3]

    @SIZES
    async def test_all_panes_are_named_and_the_one_seen_counted(self, size: Size, person: Person) -> None:
        gap = "" if size == NARROW else " "
        counts = []
        for pane in ("facts", "timeline", "checkpoints", "history", "tasks", "inbox"):
            await person.press(number_of(pane))
            named = " ".join(person.lines) if size == HUGE else person.lines[0]
            assert all(f"{number_of(name)}{gap}{PANE_LABELS[name]}" in named for name in PANE_NAMES), pane
            counts.append(person.title.split()[1])
            assert person.lines[1].startswith(" billing-api / ") is (size == NARROW)
        assert counts == ["10", "13", "1", "30", "2", "0"]

    @pytest.mark.parametrize("waiting", [0, 8, 123, 12_345])
    @pytest.mark.parametrize("current", PANE_NAMES)
    def test_every_name_is_whole_at_80_columns(self, current: str, waiting: int) -> None:
        pieces = tab_pieces(current, waiting, 78)
        assert pieces_width(pieces) <= 78
        named = [piece[0].split()[0] for piece in pieces[::2]]
        assert named[: len(PANE_NAMES)] == [number_of(pane) + PANE_LABELS[pane] for pane in PANE_NAMES]
        assert named[len(PANE_NAMES) :] == [], "a 0 beside Health was read as its count; the footer names it"
        assert (f"6Inbox {waiting:,}" in [piece[0] for piece in pieces]) is (0 < waiting < 1000)

    @pytest.mark.parametrize("hidden, told", [(False, "4 hidden: H"), (True, "all: H")])
    def test_what_is_left_out_is_told_where_there_is_little_room(self, hidden: bool, told: str) -> None:
        counts = {"superseded": 3, "forgotten": 1, "active": 80}
        left, right = title_pieces(
            "facts", View(hidden=hidden), counts, state_facet(counts), 80, 0, len(" All 80 ") + 9
        )
        assert "".join(piece[0] for piece in left) == " All 80 "
        assert "".join(piece[0] for piece in right).strip() == told

    def test_chips_without_room_are_folded_and_the_chosen_one_never_is(self) -> None:
        counts = {"active": 118, "stale": 13, "low": 7, "aging": 34, "fresh": 64, "pinned": 2}
        for room in range(45, 120):
            for state in (None, "stale", "fresh"):
                left, right = title_pieces("facts", View(state=state), counts, state_facet(counts), 13, 0, room)
                text = "".join(piece[0] for piece in left)
                assert pieces_width(left) + pieces_width(right) <= max(room, 48), (room, text)
                assert ("×" in text) is (state is not None) and text.startswith(" All 118 ")
                assert ("+" in text) is not all(word in text for word in ("Stale", "Low", "Aging", "Pinned", "Fresh"))

    @SIZES
    async def test_work_under_way_takes_the_place_of_the_figures(self, full: Story, size: Size) -> None:
        async with opened(full.folder, size) as person:
            person.main.set_status("meaning 12,138/48,502")
            person.main.draw_top()
            await person.settle()
            if size == HUGE:  # at the foot of the sidebar
                assert any(line.startswith(" meaning 12,138/48,502") for line in person.lines[-6:])
            else:
                assert all(PANE_LABELS[pane] in person.lines[0] for pane in PANE_NAMES), person.lines[0]
                assert any("meaning 12,138/48,502" in line for line in person.lines[:2])

    async def test_no_room_for_names_leaves_the_numbers(self, story: Story) -> None:
        async with opened(story.folder, (44, 20)) as person:
            await person.press("4")
            assert person.lines[0].strip() == "1 2 3 4Changes 5 6 7 8 9 0More"


class TestSizes:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("pane", ["facts", "timeline", "checkpoints", "history", "tasks"])
    async def test_any_change_of_size_keeps_pane_record_and_marks(self, full: Story, pane: str) -> None:
        async with opened(full.folder, WIDE) as person:
            await person.press(number_of(pane), "space", "ctrl+d", "ctrl+d", "j")
            found = person.main.list_of(pane)
            key, record, marks = found.cursor_key, person.record, found.marks
            assert record is not None and len(marks) == 1
            for size in (NARROW, HUGE, WIDE, (60, 15), HUGE, NARROW, WIDE):
                await person.pilot.resize_terminal(*size)
                await person.settle()
                assert (person.at, found.cursor_key, person.record, found.marks) == (pane, key, record, marks), size
                assert pane in person.seen
                assert found.line_of(found.cursor_index) is not None, f"the cursor is on the screen, {size}"
                assert len(person.lines) == size[1] and all(len(line) <= size[0] for line in person.lines)

    async def test_what_is_scrolled_stays_scrolled(self, full: Story) -> None:
        async with opened(full.folder, WIDE) as person:
            await person.press("ctrl+d", "j", "j", "j")
            facts = person.main.list_of("facts")
            top, shown = facts.scroll_offset.y, person._rows("facts")
            assert top > 10 and shown[4].startswith("▸")
            for size in (HUGE, WIDE, NARROW, (60, 24), WIDE):
                await person.pilot.resize_terminal(*size)
                await person.settle()
                assert facts.scroll_offset.y == top, f"its first line is the same, {size}"
            assert person._rows("facts") == shown

    async def test_the_preview_keeps_its_citation(self, person: Person) -> None:
        await person.press("2", "G", "k", "enter", "right")
        preview = person.main.pane.preview
        chosen = str(preview.citations[preview.selected])
        for size in (NARROW, HUGE, (60, 15), WIDE):
            await person.pilot.resize_terminal(*size)
            await person.settle()
            assert person.at == "preview" and str(preview.citations[preview.selected]) == chosen, size
        await person.press("enter")
        assert person.record is not None and person.record.citation == chosen

    async def test_the_pane_that_was_left_last_is_the_one_that_stays(self, huge: Person) -> None:
        await huge.press("5")
        await huge.pilot.resize_terminal(*NARROW)
        await huge.settle()
        assert huge.seen == ["tasks"] and huge.at == "tasks"
        await huge.pilot.resize_terminal(*WIDE)
        await huge.settle()
        assert huge.seen == ["tasks"] and huge.tasks, "what comes into sight is read"
        await huge.press("2")
        await huge.pilot.resize_terminal(*HUGE)
        await huge.settle()
        assert huge.seen == ["timeline"] and huge.timeline

    async def test_a_plan_is_resized_too(self, person: Person) -> None:
        await person.press("3")
        await person.plan_of("R")
        await person.press("j", "j", "j", "j", "space", "j")
        before, shown = person.plan, person.app.screen.query_one("#plan", RecordList)
        key = shown.cursor_key
        for size in (NARROW, HUGE, (60, 15), WIDE):
            await person.pilot.resize_terminal(*size)
            await person.settle()
            assert person.planning and shown.cursor_key == key
            assert len(person.lines) == size[1] and all(len(line) <= size[0] for line in person.lines)
            assert any(row.startswith("▸") for row in person.plan) and "10 of 11 chosen" in person.lines[-2]
        assert person.plan == before
        await person.press("escape")
        assert person.at == "checkpoints"


def marks(rows: list[str]) -> list[str]:
    """Each task's box and citation."""
    return [f"{row[1]} {found[0]}" for row in rows if (found := re.search(r"A#\d+", row))]


class TestWhatTheyHold:
    async def test_checkpoints(self, story: Story) -> None:
        with story.open() as memory:
            memory.checkpoints.take_checkpoint("quiet evening", actor="agent")
        async with opened(story.folder, NARROW) as person:
            await person.press("3")
            assert [" ".join(row.split()) for row in person.checkpoints] == [
                "▸▪ quiet evening K#2 · now nothing since · 122 tokens",
                "▪ before refactor K#1 · 1 d 13 steps since · 65 tokens",
            ]
            await person.until(lambda: any(line.startswith("At step") for line in person.preview))
            await person.press("j")
            await person.until(lambda: "Since then   11 records changed" in person.preview)
            assert "At step      17" in person.preview

    async def test_one_made_by_hand_is_of_no_session(self, story: Story) -> None:
        """It keeps what was said last, which is not what it is about."""
        with story.open() as memory:
            memory.turns.add_turns("s1", [NewTurn("user", "¿Y el céntimo de Faro?")])
            memory.checkpoints.take_checkpoint("quiet evening")
        async with opened(story.folder, NARROW) as person:
            await person.press("3", "g")
            await person.until(lambda: "Taken        by a person" in person.preview)
            assert "Last chat    s1" in person.preview and "Session      s1" not in person.preview

    async def test_checkpoints_taken_by_themselves_are_hidden_until_asked_for(self, story: Story) -> None:
        with story.open() as memory:
            memory.turns.add_turns("s1", [NewTurn("user", "¿Y el céntimo de Faro?")])
            memory.checkpoints.take_due("micro")
            memory.checkpoints.record_usage(171_000, session="s1")
        async with opened(story.folder, NARROW) as person:
            await person.press("3")
            assert [(row[1], "K#1" in row) for row in person.checkpoints] == [("▪", True)]
            assert person.title.endswith("2 automatic hidden: H")
            await person.press("H")
            assert [" ".join(row.split()) for row in person.checkpoints[:2]] == [
                "▫ ¿Y el céntimo de Faro? K#3 · now nothing since · meso 85 % · 121 tokens",
                "▫ ¿Y el céntimo de Faro? K#2 · now nothing since · micro by time · 139 tokens",
            ]
            assert person.title.endswith("2 automatic shown: H")
            await person.press("g")
            await person.until(lambda: "Taken        85 % of the window" in person.preview)
            assert "Session      s1" in person.preview
            assert any(line.startswith("To recover   ") and "tokens" in line for line in person.preview)
            assert {"To do", "Decided", "Said last"} <= set(person.preview)
            assert any("  open: " in line for line in person.preview), "the word of the tasks' own list"

    async def test_c_reads_out_what_a_checkpoint_holds_and_marks_it(self, story: Story, person: Person) -> None:
        await person.press("C")
        await person.until(lambda: person.preview[0].startswith("K#1 “before refactor”: how things"))
        assert person.at == "preview"
        await person.press("3")
        assert "↺" in person.checkpoints[0]
        with story.open() as memory:
            assert memory.checkpoints.get(1).recovered_at

    async def test_the_offer_waits_while_the_past_is_looked_at(self, story: Story, monkeypatch) -> None:
        monkeypatch.setattr(checkpoints, "OFFER_SECONDS", 0.05)
        with story.open() as memory:
            checkpoint = memory.checkpoints.get(1)
        async with opened(story.folder, NARROW) as person:
            await person.press("@")
            await person.press("enter")
            await person.until(lambda: person.main.view.past is not None)
            person.app.clear_notifications()
            person.main.checkpoints.offer(checkpoint)
            await person.settle()
            assert not person.sees("session broke off")
            await person.press("escape")
            await person.until(lambda: person.sees("session broke off"))

    async def test_a_session_that_broke_off_is_offered_with_one_key(self, story: Story) -> None:
        with story.open("2026-11-21T11:00:00.000Z") as memory:
            memory.turns.add_turns("s1", [NewTurn("user", "¿Y el céntimo de Faro?")])
        async with opened(story.folder, NARROW) as person:
            await person.until(lambda: person.sees("session broke off: C recovers it"))
            assert not person.toasts, "it would cover the keys at first sight"
            await person.settle()
            await person.press("b", *"mine", "enter")
            await person.until(lambda: any(toast.startswith("Made checkpoint") for toast in person.toasts))
            person.app.clear_notifications()
            await person.press("3")
            assert person.sees("session broke off at K#") and not person.sees("C recovers it"), "C reads the one there"
            await person.press("1")
            await person.until(lambda: person.main.current_list == "facts")
            await person.press("C")
            await person.until(lambda: any("user: ¿Y el céntimo de Faro?" in line for line in person.preview))
            assert not person.toasts, "it would cover what is read"
            await person.until(lambda: not person.sees("session broke off"))
        async with opened(story.folder, NARROW) as person:
            await person.settle()
            assert not person.sees("session broke off")

    async def test_the_offer_is_still_there_after_the_past(self, story: Story) -> None:
        with story.open("2026-11-21T11:00:00.000Z") as memory:
            memory.turns.add_turns("s1", [NewTurn("user", "¿Y el céntimo de Faro?")])
        async with opened(story.folder) as person:
            await person.until(lambda: person.sees("session broke off"))
            await person.press("@")
            await person.paste("20 Nov 2026")
            await person.press("enter")
            await person.until(lambda: person.main.view.past is not None)
            person.main.poll()
            await person.press("escape")
            assert person.sees("session broke off")

    async def test_one_is_taken_as_time_passes(self, story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(checkpoints, "POLLS_BETWEEN_CHECKPOINTS", 1)
        async with opened(story.folder, WIDE) as person:
            await person.press("3", "H")
            await person.until(lambda: any("K#2" in row for row in person.checkpoints))
            with story.open() as memory:
                found = memory.checkpoints.list_newest_first()
                assert [(point.level, point.trigger) for point in found[:-1]] == [("meso", "interval")]

    async def test_tasks_open_ones_first_done_ones_hidden(self, narrow: Person) -> None:
        await narrow.press("5")
        assert marks(narrow.tasks) == ["◧ A#2", "☐ A#3"]
        assert "1 done hidden: H" in narrow.title
        await narrow.press("H")
        assert marks(narrow.tasks) == ["◧ A#2", "☐ A#3", "☑ A#1"]
        assert "1 done shown: H" in narrow.title and "done" in narrow.tasks[2]
        await narrow.press("H")
        assert len(narrow.tasks) == 2

    async def test_a_change_in_a_hidden_pane_is_there_when_it_comes(self, story: Story, narrow: Person) -> None:
        await narrow.press("5", "1")
        with story.open() as memory:
            memory.tasks.add_task("call the printer")
        await narrow.until(lambda: not narrow.main.lists.reading and narrow.main.lists.step > 30)
        await narrow.press("5")
        assert any("call the printer" in row for row in narrow.tasks)
        with story.open() as memory:
            memory.tasks.add_task("and the lawyer")
        await narrow.until(lambda: any("and the lawyer" in row for row in narrow.tasks))

    async def test_the_timeline_by_kind(self, person: Person) -> None:
        await person.press("2")
        shown = []
        for _ in range(6):
            await person.press("d")
            marks = {row[1] for row in person.timeline if "──" not in row}
            shown.append((person.main.view.kind, marks))
        assert shown == [
            ("decision", {"◆"}),
            ("commit", {"○"}),
            ("event", {"·"}),
            ("iteration", {"↻"}),
            ("checkpoint", {"▪"}),
            (None, set("◆○·↻▪")),
        ]

    async def test_the_menu_of_filters_counts_them_and_a_letter_picks_one(self, person: Person) -> None:
        await person.press("o")
        assert person.sees("Show only…", "y   you", "   agent", "State ", "Domain", "Written by")
        await person.press("y")
        assert person.main.view.origin == "user" and len(person.rows) == 7 and person.sees("you ×")
        await person.press("o", "s")
        assert (person.main.view.origin, person.main.view.state) == (None, "stale"), "it takes the other's place"
        await person.press("o", "space", "w")
        assert (person.main.view.domain, person.main.view.state) == ("work", "stale"), "after space it is added"
        assert len(person.rows) == 1 and person.sees("work ×", "Stale 2 ×")
        await person.press("o", "escape")
        assert person.main.view.domain == "work"
        await person.press("o", "0")
        assert person.main.view == View()
        await person.press("o", "g")
        assert {row[1] for row in person.rows} == {"✕"} and person.sees("forgotten ×"), "what is kept is listed too"

    @pytest.mark.parametrize("size", [NARROW, WIDE])
    async def test_the_menu_of_filters_cuts_no_word_without_need(self, story: Story, size: tuple[int, int]) -> None:
        with story.open() as memory:
            said = "Is the importer done? It is due."
            memory.turns.add_turns("s1", [NewTurn("user", said, "Ana", "2026-11-20T09:00:00.000Z")])
            memory.summaries.summarize_due("s1", all_of_it=True)
        async with opened(story.folder, size) as person:
            await person.press("2", "o")
            assert person.sees("Summaries, not in All "), "\n".join(person.lines)

    async def test_tasks_by_how_far_they_are(self, person: Person) -> None:
        await person.press("5", "d")
        assert person.main.view.progress == "in_progress" and marks(person.tasks) == ["◧ A#2"]
        await person.press("d", "d")
        assert person.main.view.progress == "done" and marks(person.tasks) == ["☑ A#1"]

    async def test_an_origin_without_living_facts_says_so(self, story: Story) -> None:
        with story.open() as memory:
            number, _ = memory.facts.remember("only for a moment", actor="import:notes")
            memory.facts.forget([number])
        async with opened(story.folder, WIDE) as person:
            await person.command("facts --origin import:notes")
            assert person.rows == [] and person.sees("No facts match.", "import from notes ×")

    async def test_a_link_that_is_pages_below_is_gone_to_before_it_is_opened(self, story: Story) -> None:
        with story.open() as memory:
            why = "\n".join(f"Reason number {number}." for number in range(30))
            memory.decisions.decide("Sort by age", "oldest first", rationale=why, supersedes=3)
        async with opened(story.folder, NARROW) as person:
            await person.press("2", "enter")
            assert not person.main.pane.preview.link and "opens D#3" not in person.lines[-1]
            await person.press("enter")
            assert "enter opens D#3" in person.lines[-1] and person.sees("Replaces")
            await person.press("enter")
            assert person.record is not None and person.record.citation == "D#3"

    async def test_the_commit_of_a_long_decision_is_scrolled_to_where_the_preview_is_low(self, story: Story) -> None:
        with story.open() as memory:
            why = "Forty thousand invoices were inserted in half a second, and each is read back at once. " * 7
            number = memory.decisions.decide(
                "Keep one file", "SQLite", rationale=why, alternatives=["DuckDB", "A folder"]
            )
            memory.commits.link(story.shas["schema"], number)
        async with opened(story.folder, NARROW) as person:
            await person.press("2")
            await person.put_cursor(pack_key("decision", number), "timeline")
            await person.press("enter")
            assert person.sees("enter opens C#", "Implemented  C#"), "\n".join(person.lines)

    async def test_the_link_that_enter_opens_is_seen_and_zoom_is_offered(self, story: Story) -> None:
        """At 80×24 what a decision replaces is below the eight lines of the preview."""
        with story.open() as memory:
            new = memory.decisions.decide("Sort by age", "oldest first", alternatives="abcdef", supersedes=3)
        async with opened(story.folder, NARROW) as person:
            await person.press("2")
            await person.until(lambda: person.record is not None and person.record.citation == f"D#{new}")
            assert not any("Replaces" in line for line in person.lines)
            await person.press("enter")
            link = person.main.pane.preview.link
            assert link == "D#3" and f"enter opens {link}" in person.lines[-1] and "z zoom" in person.lines[-1]
            assert any("Replaces" in line and link in line for line in person.lines)
            assert person.sees(f" D#{new}  decision"), "which record it is stays seen"
            await person.press("G")
            assert person.sees(f" D#{new}  decision")


class TestEmpty:
    @SIZES
    async def test_empty_panes_teach(self, bare: Path, size: Size) -> None:
        async with opened(bare, size) as person:
            for pane in LISTED:
                if pane == "health":
                    continue  # never empty: what nobody can know yet says so
                await person.press(number_of(pane))
                shown = person.main.list_of(pane)
                text = " ".join(
                    shown.render_line(y).text.strip() for y in range(shown.size.height) if shown.render_line(y).text
                )
                assert " ".join(text.split()) == " ".join(empty_pane_text(pane).split())
                if size == NARROW:
                    await person.press("G", "space", "v", "Y", "f", "m", "U", "W", "R", "enter", "escape")
            with Memory.open(str(bare / ".memoranda" / "memory.db"), "cli", Clock()) as memory:
                assert memory.history.steps() == []

    async def test_the_key_it_names_fills_it(self, bare: Path) -> None:
        async with opened(bare, NARROW) as person:
            for pane, answers in (
                ("facts", ["the first fact"]),
                ("timeline", ["a first decision", "this", "that", "why not"]),
                ("checkpoints", ["the first moment"]),
                ("tasks", ["the first task"]),
            ):
                await person.press(number_of(pane), "a")
                for answer in answers:
                    await person.paste(answer)
                    await person.press("enter")
                assert any(answers[0] in row for row in person._rows(pane)), pane
                assert person.at == pane
            await person.press("4")
            assert [row.split()[1] for row in person.history] == ["task", "decide", "remember"]


async def test_escape_shows_all_of_a_filtered_list_again(person: Person) -> None:
    """In each pane its own filter, and no other's."""
    await person.press("2", "d", "4", "d", "1", "d")
    view = person.main.view
    assert view.kind == "decision" and view.actor and view.state == "stale"
    for pane, left in (("1", {"state"}), ("4", {"state", "actor"}), ("2", {"state", "actor", "kind"})):
        await person.press(pane, "escape")
        view = person.main.view
        gone = {name for name in ("state", "actor", "kind") if getattr(view, name) is None}
        assert gone == left


async def test_where_it_is_narrow_few_hits_leave_their_room_to_the_preview(story: Story) -> None:
    """Once one goes through them, not while one types; and never where the panes stand side by side."""
    async with opened(story.folder, NARROW) as person:
        await person.search("jenkins")
        hits, preview = person.main.query_one("#hits-pane"), person.main.pane
        half = hits.size.height
        assert half > 6
        await person.press("enter")
        assert hits.size.height == len(person.headings) + len(person.hits) < 4 and preview.size.height > half + 4
        await person.press("slash")
        assert hits.size.height == half
    async with opened(story.folder) as person:
        await person.search("jenkins")
        await person.press("enter")
        assert person.main.query_one("#hits-pane").size.height > 30


async def test_where_it_is_narrow_the_footer_names_what_the_tabs_have_no_room_for(narrow: Person) -> None:
    """A pane's own keys come first."""
    for pane in ("1", "2", "6"):
        await narrow.press(pane)
        assert narrow.lines[-1].endswith("0 panes"), pane
        assert narrow.sees("/ search"), "which stands above the list, so not here too"
        assert "/ search" not in narrow.lines[-1], pane
        assert pane != "2" or "t day" in narrow.lines[-1]
    await narrow.press("7")
    assert "I question" in narrow.lines[-1] and "0 panes" not in narrow.lines[-1]
    await narrow.press("4")
    assert "u undo my last" in narrow.lines[-1] and "0 panes" not in narrow.lines[-1]


async def test_where_it_is_narrow_it_is_said_in_words_what_is_hidden_and_how_to_narrow(story: Story) -> None:
    with story.open() as memory:
        memory.facts.forget([story.facts["kubernetes"]])
    async with opened(story.folder, NARROW) as person:
        assert person.title.endswith("hidden: H  d next, o pick"), person.title
    async with opened(story.folder, HUGE) as person:
        assert person.title.endswith("hidden: H  d next filter, o pick"), person.title
