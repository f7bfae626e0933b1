"""What would change is seen before it does: going back to a checkpoint, taking a step or an origin back, looking back.

The story's only checkpoint, K#1, was taken a day and a half ago; 11 records changed since, none by others meanwhile.
"""

from collections.abc import Callable

import pytest
from support.screen import HUGE, NARROW, Person, opened
from support.stories import Story

from store.base.citations import cite
from store.database.schema import RECORDED_TABLES
from store.memory import Memory

Size = tuple[int, int]
SIZES = pytest.mark.parametrize("size", [NARROW, HUGE], ids=["80x24", "200x60"])
NOTES = "import:notes"


@pytest.fixture
def notes(story: Story) -> Story:
    """The memory after somebody's notes were imported: one fact since confirmed by hand, one corrected, one as it was,
    and a decision."""
    facts = story.facts
    with story.open(now="2026-11-21T11:00:00.000Z") as memory:
        for name in ("confirmed", "corrected", "untouched"):
            facts[name], _ = memory.facts.remember(f"From the notes, {name}", actor=NOTES)
        story.decisions["notes"] = memory.decisions.decide("From the notes", "paper", actor=NOTES)
    with story.open() as memory:
        memory.facts.confirm([facts["confirmed"]])
        facts["right"] = memory.facts.correct(facts["corrected"], "Written by hand instead")
    return story


def held(story: Story) -> dict[str, list[tuple[object, ...]]]:
    """Every row of every recorded table."""
    with story.open() as memory:
        return {table: sorted(memory.database.rows(f"SELECT * FROM {table}"), key=repr) for table in RECORDED_TABLES}


def newest(story: Story) -> int:
    with story.open() as memory:
        return memory.history.steps(limit=1)[0].seq


def step_of(story: Story, reason: str) -> int:
    with story.open() as memory:
        return next(step.seq for step in memory.history.steps() if step.reason == reason)


def marks(person: Person) -> dict[str, str]:
    """The plan's rows: citation → its box."""
    return {row[7:16].strip(): row[1:4] for row in person.plan}


def told(person: Person) -> str:
    """The preview, whose lines are wrapped, as one."""
    return " ".join(person.plan_preview)


def chosen(person: Person) -> str:
    return person.lines[-2].split("chosen")[0].strip()


async def to_step(person: Person, seq: int) -> None:
    """Put the cursor on a step of the history."""
    await person.press("4")
    await person.put_cursor(seq, "history")


class TestRestore:
    @SIZES
    async def test_every_record_with_its_mark_its_sign_and_its_outcome(self, size: Size, person: Person) -> None:
        await person.press("3")
        await person.plan_of("R")
        assert person.sees("RESTORE K#1 “before refactor”   20 Nov 2026 00:00", "11 of 11 chosen", "u undoes it all")
        await person.press("G", "g")
        rows = [" ".join(row[1:].split()) for row in person.plan]
        assert rows[4].startswith("[x] − A#3 ask for a logo removed")
        assert rows[7].startswith("[x] − D#5 Send invoices by fax removed (forgotten now)")
        assert rows[9].startswith("[x] ~ D#2 Cache in Redis comes back")
        assert size == NARROW or "you, 12 h" in rows[7], "who made it what it is, where there is room"
        assert all("[x]" in row for row in person.plan)
        above = " ".join(person.lines[1].partition("│")[0].split())
        assert above == "strategy replace keep mine only add if restored · last changed by", "nothing happened yet"

    async def test_the_preview_shows_before_and_after(self, story: Story) -> None:
        with story.open() as memory:
            memory.facts.pin([story.facts["jenkins"]])
        async with opened(story.folder) as person:
            await person.command("restore K#1")
            await person.until(lambda: person.planning)
            await person.settle()
            assert person.plan_preview[:2] == [
                "F#6  fact · if restored: unpinned",
                "Uses Jenkins for the nightly build",
            ]
            assert "last changed by you, cli, just now, step 31: pin F#6" in told(person)
            at = person.plan_preview.index("As it is − and as it would be +")
            assert [line.split() for line in person.plan_preview[at + 1 :]] == [["pinned", "−", "yes"]]
            await person.press(*"jjjjjjjjjj")
            assert person.plan_preview[0] == "D#2  decision · if restored: comes back"
            assert [line.split()[-2:] for line in person.plan_preview[-2:]] == [["−", "replaced"], ["+", "active"]]
            await person.press("J")
            assert person.planning

    @SIZES
    async def test_applying_all_takes_a_checkpoint_first_and_u_takes_all_back(self, story: Story, size: Size) -> None:
        before = held(story)
        with story.open() as memory:
            then = newest(story)
            assert len(memory.checkpoints.list_newest_first()) == 1
        async with opened(story.folder, size) as person:
            await person.press("3")
            await person.plan_of("R")
            assert held(story) == before, "looking changes nothing"
            await person.press("enter")
            assert not person.planning and person.at == "checkpoints"
            assert person.toasts == ["11 records changed; K#2 is how it was; u undoes it all"]
            assert "before restoring" in person.checkpoints[0] and "K#2" in person.checkpoints[0]
            with story.open() as memory:
                assert memory.tasks.ids() == [] and memory.decisions.get(story.decisions["redis"]).status == "active"
                assert newest(story) == then + 1, "one step"
            await person.press("u")
            assert person.sees("Undo step 31, just now: restore K#1 (11 records, 4 of them links)? y/n")
            await person.press("y")
            assert person.toasts == ["Undid: restore K#1; ^r redoes it"]
            assert held(story) == before
            await person.press("ctrl+r")
            assert held(story) != before

    async def test_after_a_restore_and_its_undo_each_row_says_who_changed_it(self, story: Story) -> None:
        """What the undo brought back is not the person's, in the list as in the preview and by the strategy."""
        with story.open() as memory:
            memory.facts.forget([story.facts["fridays"]], actor="mcp:claude-code")
        async with opened(story.folder, HUGE) as person:
            await person.press("3")
            await person.plan_of("R")
            first = [row[1:] for row in person.plan]
            assert "comes back · claude-code, now" in " ".join(first[0].split())
            await person.press("enter", "u", "y")
            await person.plan_of("R")
            assert [row[1:] for row in person.plan] == first
            assert "last changed by mcp:claude-code, cli, just now, step 31: forget F#7" in told(person)
            await person.press("s")
            assert marks(person)["F#7"] == "[x]", "keep mine restores what an agent changed"

    async def test_escape_leaves_all_as_it_is(self, story: Story) -> None:
        before = held(story), newest(story)
        async with opened(story.folder) as person:
            await person.press("3")
            for key in ("escape", "q"):
                await person.plan_of("R")
                await person.press("space", key)
                assert not person.planning and person.at == "checkpoints"
            assert (held(story), newest(story)) == before and len(person.checkpoints) == 1

    async def test_only_what_is_chosen_is_applied(self, story: Story, person: Person) -> None:
        await person.press("3")
        await person.plan_of("R")
        await person.press("ctrl+a")
        assert chosen(person) == "0 of 11" and set(marks(person).values()) == {"[ ]"}
        await person.press("enter")
        assert person.toasts == ["Nothing is chosen: space chooses a record, esc leaves."] and person.planning
        await person.press("j", "j", "j", "j", "space", "x")
        assert chosen(person) == "2 of 11"
        assert [name for name, box in marks(person).items() if box == "[x]"] == ["A#3", "A#2"]
        await person.press("enter")
        assert person.toasts == ["2 records changed; K#2 is how it was; u undoes it all"]
        with story.open() as memory:
            assert memory.tasks.ids(statuses=("pending", "in_progress", "done")) == [1]
            assert memory.decisions.get(story.decisions["fax"]).status == "forgotten"

    async def test_records_are_chosen_one_by_one_with_what_they_need_or_all(self, story: Story, person: Person) -> None:
        """And the strategy that is chosen stands out."""
        # all and none
        await person.press("3")
        await person.plan_of("R")
        seen = []
        for key in ("a", "a", "ctrl+a", "ctrl+a"):
            word = "none" if "^a none" in person.lines[-1] else "all"
            await person.press(key)
            seen.append((word, chosen(person)))
        assert seen == [("none", "0 of 11"), ("all", "11 of 11")] * 2
        await person.start_again()
        # D#3 is linked to a commit and took the place of D#2: it cannot go while its links stay.
        await person.press("3")
        await person.plan_of("R")
        place = next(index for index, row in enumerate(person.plan) if row[7:].startswith("D#3 "))
        await person.press("ctrl+a", *["j"] * place)
        needs = next(line for line in person.plan_preview if line.startswith("Goes together with "))
        await person.press("space")
        assert chosen(person) == "2 of 11", "D#3, and its link"
        assert needs == f"Goes together with its link to C#{story.shas['memory'][:7]}", "each other record once"
        link = next(index for index, row in enumerate(person.plan) if "implements D#" in row and "[x] − link " in row)
        await person.press("g", *["j"] * link, "space")
        assert chosen(person) == "0 of 11", "without its link's going, D#3 stays too"
        await person.start_again()
        # the strategy that is chosen stands out
        await person.press("3")
        await person.plan_of("R")
        bold = []
        for _ in range(4):
            strip = person.strips[1]
            bold.append([part.text.strip() for part in strip if part.style and part.style.bold])
            await person.press("s")
        assert bold == [["replace"], ["keep mine"], ["only add"], ["replace"]]

    async def test_one_kind_after_the_other(self, story: Story, person: Person) -> None:
        await person.press("3")
        await person.plan_of("R")
        shown = []
        for _ in range(4):
            following = person.lines[-1].partition(" d ")[2].partition("  ")[0]
            await person.press("d")
            assert person.lines[-2].partition("chosen  ")[2].startswith(following), "the key says what comes next"
            bar = person.lines[-2].split()
            shown.append((" ".join(bar[:1]), " ".join(bar[4:]).split("  ")[0].partition(" a checkpoint")[0]))
            kinds = {row[7:16].strip()[0] for row in person.plan}
            assert len(kinds) > 1 if shown[-1][1] == "all kinds" else kinds <= {"D", "A", "l"}, kinds
        # the decision that goes takes its link along, and other kinds are not shown
        kinds = ["only decisions, with 1 link", "only links", "only tasks", "all kinds"]
        assert shown == list(zip(("5", "4", "3", "11"), kinds, strict=True))
        await person.press("d", "enter")
        with story.open() as memory:
            assert memory.tasks.ids() == [2, 3], "tasks stay as they are"
            assert memory.decisions.get(story.decisions["redis"]).status == "active"

    async def test_strategies(self, story: Story) -> None:
        """`mine` keeps what a person changed since by hand; `only add` brings back and takes nothing away."""
        with story.open() as memory:
            memory.facts.forget([story.facts["jenkins"]])
            memory.facts.forget([story.facts["fridays"]], actor="agent")
        async with opened(story.folder) as person:
            await person.press("3")
            await person.plan_of("R")
            assert person.sees("strategy  replace  keep mine  only add") and chosen(person) == "13 of 13"
            await person.press("s")
            mine = {name for name, box in marks(person).items() if box == "[x]"}
            assert "F#7" in mine and "D#4" in mine and not mine & {"F#6", "A#3", "D#2"}, "what others did goes"
            await person.press("s")
            added = {name for name, box in marks(person).items() if box == "[x]"}
            assert {"F#6", "F#7"} <= added and not added & {"D#4", "A#3", "D#3"}
            await person.press("enter")
            with story.open() as memory:
                assert memory.facts.get(story.facts["jenkins"]).status == "active"
                assert memory.tasks.ids() == [2, 3]

    async def test_keeping_mine_goes_field_by_field(self, story: Story) -> None:
        """Of a fact that the person pinned and an agent tagged, the tag goes and the pin stays; a person who chooses
        what is theirs all the same loses it knowingly."""
        with story.open() as memory:
            memory.facts.pin([story.facts["rounding"]])
            memory.tagging.add_tags([("fact", story.facts["rounding"])], "theirs", actor="agent")
            memory.facts.pin([story.facts["fridays"]])
        both, mine = (f"F#{story.facts[name]}" for name in ("rounding", "fridays"))
        async with opened(story.folder) as person:
            await person.press("3")
            await person.plan_of("R", "s")
            boxes = marks(person)
            assert (boxes[both], boxes[mine]) == ("[x]", "[ ]")
            place = next(index for index, row in enumerate(person.plan) if both in row)
            await person.press("g", *("j",) * place)
            assert "You changed its pinned since: that stays, and the rest goes back." in " ".join(person.plan_preview)
            await person.press("enter")
            with story.open() as memory:
                kept = memory.facts.get(story.facts["rounding"])
                assert kept.pinned and "theirs" not in kept.tags
                assert memory.facts.get(story.facts["fridays"]).pinned

    async def test_a_record_changed_while_one_looked_is_refused(self, story: Story, person: Person) -> None:
        await person.press("3")
        await person.plan_of("R")
        with story.open() as memory:
            memory.tasks.correct(3, "ask for two logos")
        before = held(story)
        await person.press("enter")
        assert person.toasts == ["A#3 changed while you looked; nothing was done. Look again, and choose again."]
        assert person.planning and held(story) == before
        await person.press("escape")
        await person.plan_of("R")
        await person.press("enter")
        assert person.toasts[-1].startswith("11 records changed")

    async def test_nothing_changed_since(self, person: Person) -> None:
        await person.command("checkpoint now")
        await person.press("3", "R")
        assert person.toasts[-1] == "Nothing changed since." and not person.planning
        await person.press("1", "R")
        assert person.toasts[-1] == "R goes back to a checkpoint; 3 lists them."

    async def test_the_screen_has_its_own_keys_in_the_footer(self, huge: Person) -> None:
        await huge.press("3")
        await huge.plan_of("R")
        assert huge.lines[-1].split("  ")[0].strip() == "enter apply"
        assert all(word in huge.lines[-1] for word in ("space choose", "d only decisions", "s strategy", "esc leave"))
        await huge.press("escape")
        await to_step(huge, 15)
        await huge.plan_of("U")
        assert "strategy" not in huge.lines[-1] and "enter apply" in huge.lines[-1]
        await huge.press("s", "s")
        assert chosen(huge) == "2 of 2", "there is no other strategy for a step"


class TestOneStep:
    async def test_a_step_of_one_record_goes_at_once(self, story: Story, narrow: Person) -> None:
        def known() -> bool:
            with story.open() as memory:
                return bool(memory.facts.get_many([story.facts["jenkins"]]))

        await to_step(narrow, step_of(story, "remember F#6"))
        await narrow.press("U")
        assert not narrow.planning
        assert narrow.toasts == ["Undid step 6: Uses Jenkins for the nightly build; u undoes it"]
        assert not known()
        assert any("undone by 31" in row for row in narrow.history)
        await narrow.press("ctrl+r")
        assert known()
        await to_step(narrow, 31)
        await narrow.press("U")
        assert narrow.toasts[-1] == "Step 31 is already undone, by step 32."
        await to_step(narrow, 32)
        await narrow.press("U")
        assert narrow.toasts[-1].endswith("; U on the new step undoes it")
        assert not known()

    async def test_a_step_of_several_is_shown(self, story: Story, person: Person) -> None:
        await to_step(person, step_of(story, "forget F#13 F#14"))
        await person.plan_of("U")
        assert person.sees("UNDO step 15: forget F#13 F#14   23 Oct 2026 12:00, by user", "2 of 2 chosen")
        await person.press("j", "space", "enter")
        assert person.toasts == ["1 record changed; u undoes it"], "no checkpoint for a single step"
        with story.open() as memory:
            states = [memory.facts.get(story.facts[name]).status for name in ("standup", "coffee")]
            assert sorted(states) == ["active", "forgotten"] and len(memory.checkpoints.list_newest_first()) == 1

    async def test_a_clash_is_shown_and_decided(self, story: Story) -> None:
        """The task was started in one step and finished in a later one."""
        with story.open() as memory:
            memory.tasks.move(2, "done")
        async with opened(story.folder) as person:
            await to_step(person, step_of(story, "task start A#2"))
            await person.plan_of("U")
            assert marks(person) == {"A#2": "[!]"} and chosen(person) == "0 of 1"
            assert person.sees("[!] 1 changed since: kept unless chosen")
            assert "It was changed since. Chosen, that change is overwritten; not chosen, it stays." in told(person)
            await person.press("enter")
            assert person.planning, "nothing is guessed"
            await person.press("space", "enter")
            assert person.toasts[-1] == "1 record changed; u undoes it"
            with story.open() as memory:
                assert memory.tasks.get(2).status == "pending"
            await person.press("ctrl+r")
            with story.open() as memory:
                assert memory.tasks.get(2).status == "done"

    async def test_what_can_never_be_says_why_and_cannot_be_chosen(self, story: Story, person: Person) -> None:
        """A decision that another one refers to cannot be undone alone."""
        await to_step(person, step_of(story, "decide D#2"))
        await person.plan_of("U")
        assert marks(person) == {"D#2": "[-]"} and chosen(person) == "0 of 1"
        why = "D#3 took its place, and stays: undo the step that made D#3 first."
        assert f"Cannot be applied: {why}" in told(person)
        await person.press("space")
        assert person.toasts == [why] and chosen(person) == "0 of 1"
        await person.press("ctrl+a")
        assert chosen(person) == "0 of 1"

    async def test_taken_back_already_and_taken_back_by_the_bar(self, person: Person) -> None:
        await person.command("undo 6")
        assert person.toasts == ["Undid step 6: Uses Jenkins for the nightly build; u undoes it"]
        await to_step(person, 6)
        await person.press("U")
        assert person.toasts[-1] == "Step 6 is already undone, by step 31."
        await person.command("undo 6")
        assert person.toasts[-1].startswith("Step 6 is already undone, by step 31.")
        await person.pilot.press("colon")
        await person.paste("undo 15")
        await person.plan_of("enter")
        assert chosen(person) == "2 of 2"

    async def test_u_is_not_for_other_lists(self, person: Person) -> None:
        await person.press("U")
        assert person.toasts[-1].startswith("U undoes a step of the history; 4 goes there.")


class TestAnOrigin:
    async def test_a_link_made_later_goes_with_an_agents_decision(self, story: Story) -> None:
        """The decision that went wrong is undone, though the import from git linked a commit to it since."""
        with story.open() as memory:
            wrong = memory.decisions.decide("Cache in Redis again", "Redis", actor="mcp:claude-code")
            memory.commits.link(story.shas["memory"], wrong, actor="import:git")
        before = held(story)
        async with opened(story.folder, HUGE) as person:
            await to_step(person, step_of(story, f"decide {cite('decision', wrong)}"))
            await person.plan_of("W")
            link, decision = f"C#{story.shas['memory'][:7]}", cite("decision", wrong)
            rows = [" ".join(row[1:].split("│")[0].split()) for row in person.plan]
            assert rows[0].startswith(f"[x] − link {link} implements {decision} removed · import from git")
            assert rows[1].startswith(f"[x] − {decision} Cache in Redis again removed · claude-code")
            await person.press("g")
            assert f"Goes together with {decision}" in told(person)
            await person.press("j")
            assert f"Goes together with its link to {link}" in told(person)
            await person.press("space")
            boxes = marks(person)
            assert (boxes["link"], boxes[decision]) == ("[ ]", "[ ]")
            await person.press("g", "space", "enter")
            with story.open() as memory:
                assert not memory.decisions.get_many([wrong])
            await person.press("u", "y")
            assert held(story) == before

    @pytest.mark.parametrize("way", ["step", "fact", "line"])
    async def test_all_it_wrote_with_what_clashes_left_alone(self, notes: Story, way: str) -> None:
        facts = notes.facts
        before = held(notes)
        async with opened(notes.folder, HUGE) as person:
            if way == "step":
                await to_step(person, step_of(notes, f"remember {cite('fact', facts['untouched'])}"))
                await person.plan_of("W")
            elif way == "fact":
                await person.put_cursor(facts["untouched"])
                await person.plan_of("W")
            else:
                await person.pilot.press("colon")
                await person.paste(f"undo --all-by {NOTES}")
                await person.plan_of("enter")
            assert person.sees(f"UNDO all that {NOTES} wrote", " changed since: kept unless chosen")
            assert person.sees("[-] 1 cannot change", "a checkpoint is taken first")
            names = {cite("fact", facts[name]): name for name in ("confirmed", "corrected", "untouched")}
            boxes = {names.get(citation, citation): box for citation, box in marks(person).items()}
            decision = cite("decision", notes.decisions["notes"])
            assert boxes == {decision: "[x]", "untouched": "[x]", "confirmed": "[!]", "corrected": "[-]"}
            assert person.sees("[!] 1 changed since: kept unless chosen  [-] 1 cannot change")
            await person.press("enter")
            assert person.toasts == ["2 records changed; K#2 is how it was; u undoes it all"]
            with notes.open() as memory:
                assert not memory.facts.get_many([facts["untouched"]])
                assert memory.facts.get(facts["confirmed"]).status == "active"
                assert memory.facts.get(facts["right"]).status == "active"
            assert not any("untouched" in row for row in person.rows)
            await person.press("u", "y")
            assert held(notes) == before

    async def test_a_conflict_can_be_chosen(self, notes: Story) -> None:
        async with opened(notes.folder) as person:
            await person.put_cursor(notes.facts["confirmed"])
            await person.plan_of("W")
            place = list(marks(person)).index(cite("fact", notes.facts["confirmed"]))
            at = next(index for index, row in enumerate(person.plan) if row.startswith("▸"))
            await person.press("g", *["j"] * place)
            assert "last changed by you, cli" in told(person) and place != at
            await person.press("space", "enter")
            assert person.toasts == ["3 records changed; K#2 is how it was; u undoes it all"]
            with notes.open() as memory:
                assert not memory.facts.get_many([notes.facts["confirmed"]])

    async def test_nobody_takes_back_all_of_a_person_at_a_key(self, notes: Story) -> None:
        async with opened(notes.folder) as person:
            await person.press("W")
            assert person.toasts[-1].startswith("That is you. A checkpoint takes you back") and not person.planning
            await person.press("3", "W")
            await person.command("undo --all-by nobody")
            assert person.toasts[-1].startswith("Nobody of that name ever wrote here.")

    async def test_what_is_gone_already_is_said(self, notes: Story) -> None:
        async with opened(notes.folder) as person:
            await person.command("undo --all-by hook --yes")
            await person.command("undo --all-by hook")
            assert person.toasts[-1] == "Nothing of it is in force any more." and not person.planning


class TestSince:
    @SIZES
    async def test_what_changed_and_a_record_opened_from_it(self, story: Story, person: Person) -> None:
        await person.press("3", "D")
        assert person.sees("changed since K#1")
        await person.plan_of("enter")
        assert person.sees("CHANGED since K#1 “before refactor”", "11 records", "before and after")
        row = next(row for row in person.plan if " D#4 " in row)
        assert row[1] == "+" and "new" in row and "[" not in row, "it is looked at, not chosen from"
        await person.press("space", "ctrl+a", "s", "d")
        assert "11 records" in person.lines[-2]
        place = next(index for index, row in enumerate(person.plan) if " A#2 " in row)
        at = next(index for index, row in enumerate(person.plan) if row.startswith("▸"))
        await person.press(*["j"] * (place - at))
        assert person.plan_preview[0] == "A#2  task · new" and "Before − and after +" in person.plan_preview
        await person.press("enter")
        assert not person.planning and person.record is not None and person.record.citation == "A#2"
        assert newest(story) == 30

    async def test_the_bar_shows_the_same(self, story: Story, person: Person) -> None:
        for since, records in (("1d", 11), ("4d", 12), ("K#1", 11), ("2026-09-20", 19)):
            with story.open() as memory:
                assert len(memory.plans.plan_since(_since(memory, since)).changes) == records
            await person.pilot.press("colon")
            await person.paste(f"diff {since}")
            await person.plan_of("enter")
            assert f"{records} records" in person.lines[-2] and person.lines[0].startswith(" CHANGED since")
            await person.press("escape")

    async def test_a_link_opens_its_commit(self, story: Story, person: Person) -> None:
        await person.press("4", "D")
        await person.plan_of("enter")
        await person.press("enter")
        assert person.record is not None and person.record.citation == f"C#{story.shas['readme'][:7]}"

    async def test_no_moment_no_change_and_nonsense(self, person: Person) -> None:
        said: Callable[[Person], str] = lambda person: person.toasts[-1]  # noqa: E731
        await person.command("diff K#99")
        assert said(person).startswith("There is no checkpoint K#99.")
        await person.command("diff whenever")
        assert not person.planning and len(person.toasts) == 2
        await person.command("checkpoint now")
        await person.command("diff K#2")
        assert said(person) == "Nothing changed since." and not person.planning

    async def test_the_bars_other_ways_are_the_command_lines(self, person: Person) -> None:
        """With --yes, --dry-run, --only it is not asked but done, or read out."""
        await person.command("restore K#1 --dry-run")
        assert person.at == "preview"
        assert " ".join(person.preview).startswith("Restoring K#1 would change 11 records. - C#a383156 D#1")
        await person.command("restore 1 --only A#3 --yes")
        assert person.toasts[-1].startswith("Restored K#1: 1 record changed. K#2 is how it was")
        await person.command("undo --dry-run")
        assert " ".join(person.preview).startswith("Undoing step 31 would change 1 record")
        await person.command("undo 15 --keep F#13")
        assert person.toasts[-1] == "Undid step 15: forget F#13 F#14. 1 record kept."
        await person.command("restore 1 --kind decision")
        assert person.sees("Go on? y/n")
        await person.press("n")
        assert person.toasts[-1] == "Nothing was changed."


def _since(memory: Memory, text: str) -> int:
    from store.upkeep.as_of import point_in_time

    return point_in_time(memory, text).seq


async def test_that_there_is_another_strategy_is_seen_where_it_is_narrow(narrow: Person) -> None:
    await narrow.press("3")
    await narrow.plan_of("R", "d")
    assert narrow.sees("strategy  replace", "s strategy", "u undoes it all")
