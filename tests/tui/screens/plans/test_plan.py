"""What would change is seen before it does: going back to a checkpoint, taking a step or an origin back, looking back.

The story's only checkpoint, K#1, was taken a day and a half ago; 11 records changed since, none by others meanwhile.
"""

import pytest
from support.screen import HUGE, NARROW, Person, opened
from support.stories import Story

from store.base.citations import cite
from store.base.vocabulary import pack_key
from store.database.schema import RECORDED_TABLES
from tui.panes.records import step_key

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


def status(story: Story, *names: str) -> list[str]:
    """The states of facts of the story, by name."""
    with story.open() as memory:
        found = {fact.id: fact.status for fact in memory.facts.get_many([story.facts[name] for name in names])}
        return [found.get(story.facts[name], "gone") for name in names]


def marks(person: Person) -> dict[str, str]:
    """The plan's rows: citation → its box."""
    return {row[7:16].strip(): row[1:4] for row in person.plan}


def told(person: Person) -> str:
    """The preview, whose lines are wrapped, as one."""
    return " ".join(person.plan_preview)


def chosen(person: Person) -> str:
    return person.lines[-2].split("chosen")[0].strip()


async def to_step(person: Person, step: int | str, story: Story) -> None:
    """Put the cursor on a step of the history, given its number or its reason."""
    with story.open() as memory:
        seq = next(one.seq for one in memory.history.steps() if step in (one.seq, one.reason))
    await person.command("history")
    await person.put_cursor(step_key(seq))


async def restore(person: Person, *keys: str) -> None:
    """Show what going back to K#1 changes."""
    await person.start_again()
    await person.command("checkpoints")
    await person.press("G")
    await person.plan_of("R")
    await person.press(*keys)


class TestRestore:
    @SIZES
    async def test_every_record_with_its_mark_its_sign_and_its_outcome(self, size: Size, person: Person) -> None:
        await restore(person)
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
        keys = ("enter restore", "space choose", "d only decisions", "s strategy", "esc leave")
        assert person.lines[-1].startswith(" enter restore ") and all(key in person.lines[-1] for key in keys)

    async def test_the_preview_shows_before_and_after(self, story: Story) -> None:
        with story.open() as memory:
            memory.facts.pin([story.facts["jenkins"]])
        async with opened(story.folder) as person:
            await person.plan_of(*("colon", *"restore K", "number_sign", "1", "enter"))
            first = ["F#6  fact · if restored: unpinned", "Uses Jenkins for the nightly build"]
            assert person.plan_preview[:2] == first
            assert "last changed by you, cli, just now, step 31: pin F#6" in told(person)
            at = person.plan_preview.index("As it is − and as it would be +")
            assert [line.split() for line in person.plan_preview[at + 1 :]] == [["pinned", "−", "yes"]]
            await person.press(*"jjjjjjjjjj")
            assert person.plan_preview[0] == "D#2  decision · if restored: comes back"
            assert [line.split()[-2:] for line in person.plan_preview[-2:]] == [["−", "replaced"], ["+", "active"]]

    @SIZES
    async def test_all_is_applied_and_one_key_takes_it_back(self, story: Story, size: Size) -> None:
        """After a checkpoint, as one step; leaving changes nothing; after the undo each row says who changed it."""
        with story.open() as memory:
            memory.facts.forget([story.facts["fridays"]], actor="mcp:claude-code")
        before, then = held(story), newest(story)
        async with opened(story.folder, size) as person:
            for key in ("escape", "q"):
                await restore(person, "space", key)
                assert not person.planning and (held(story), newest(story)) == (before, then)
            await restore(person)
            first = [row[1:] for row in person.plan]
            assert "comes back · claude-code, now" in " ".join(first[0].split())
            await person.press("enter")
            assert person.toasts == ["12 records changed; K#2 is how it was; u undoes it all"] and not person.planning
            assert "before restoring" in person.rows[0] and "K#2" in person.rows[0]
            with story.open() as memory:
                assert memory.tasks.ids() == [] and memory.decisions.get(story.decisions["redis"]).status == "active"
            assert newest(story) == then + 1, "one step"
            await person.press("u")
            assert person.toasts == ["Undid: restore K#1; ^r redoes it"] and held(story) == before
            await restore(person)
            assert [row[1:] for row in person.plan] == first
            assert "last changed by mcp:claude-code, cli, just now, step 31: forget F#7" in told(person)
            await person.press("s")
            assert marks(person)["F#7"] == "[x]", "keep mine restores what an agent changed"
            await person.press("escape", "ctrl+r")
            assert held(story) != before

    async def test_records_are_chosen_one_by_one_with_what_they_need_or_all(self, story: Story, person: Person) -> None:
        await restore(person)
        seen = []
        for key in ("a", "a", "ctrl+a", "ctrl+a"):
            word = "none" if "^a none" in person.lines[-1] else "all"
            await person.press(key)
            seen.append((word, chosen(person)))
        assert seen == [("none", "0 of 11"), ("all", "11 of 11")] * 2
        # D#3 is linked to a commit and took the place of D#2: it cannot go while its links stay
        place = next(index for index, row in enumerate(person.plan) if row[7:].startswith("D#3 "))
        await person.press("ctrl+a", "g", *["j"] * place)
        needs = next(line for line in person.plan_preview if line.startswith("Goes together with "))
        await person.press("space")
        assert chosen(person) == "2 of 11", "D#3, and its link"
        assert needs == f"Goes together with its link to C#{story.shas['memory'][:7]}", "each other record once"
        link = next(index for index, row in enumerate(person.plan) if "implements D#" in row and "[x] − link " in row)
        await person.press("g", *["j"] * link, "space")
        assert chosen(person) == "0 of 11", "without its link's going, D#3 stays too"
        # the strategy that is chosen stands out
        bold = []
        for _ in range(4):
            bold.append([part.text.strip() for part in person.strips[1] if part.style and part.style.bold])
            await person.press("s")
        assert bold == [["replace"], ["keep mine"], ["only add"], ["replace"]]
        # only what is chosen is applied
        await restore(person, "ctrl+a", "enter")
        assert person.toasts == ["Nothing is chosen: space chooses, esc leaves."] and person.planning
        await person.press("j", "j", "j", "j", "space", "x")
        assert [name for name, box in marks(person).items() if box == "[x]"] == ["A#3", "A#2"]
        await person.press("enter")
        assert person.toasts == ["2 records changed; K#2 is how it was; u undoes it all"]
        with story.open() as memory:
            assert memory.tasks.ids(statuses=("pending", "in_progress", "done")) == [1]
            assert memory.decisions.get(story.decisions["fax"]).status == "forgotten"

    async def test_one_kind_after_the_other(self, story: Story, person: Person) -> None:
        await restore(person)
        shown = []
        for _ in range(4):
            following = person.lines[-1].partition(" d ")[2].partition("  ")[0]
            await person.press("d")
            bar = person.lines[-2].partition("chosen  ")
            assert bar[2].startswith(following), "the key says what comes next"
            shown.append((bar[0].split()[0], bar[2].split("  ")[0].strip()))
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
        """`keep mine` keeps what a person changed since, field by field; `only add` takes nothing away; whoever chooses
        what is theirs all the same loses it knowingly."""
        with story.open() as memory:
            memory.facts.forget([story.facts["jenkins"]])
            memory.facts.forget([story.facts["language"]], actor="agent")
            memory.facts.pin([story.facts["rounding"], story.facts["direct"]])
            memory.tagging.add_tags([("fact", story.facts["rounding"])], "theirs", actor="agent")
        jenkins, language, both, mine = (f"F#{story.facts[n]}" for n in ("jenkins", "language", "rounding", "direct"))
        async with opened(story.folder) as person:
            await restore(person)
            assert chosen(person) == "15 of 15"
            await person.press("s")
            some = {name for name, box in marks(person).items() if box == "[x]"}
            assert {language, "D#4", both} <= some and not some & {jenkins, "A#3", "D#2", mine}, "what others did goes"
            place = next(index for index, row in enumerate(person.plan) if both in row)
            await person.press("g", *("j",) * place)
            assert "You changed its pinned since: that stays, and the rest goes back." in told(person)
            await person.press("enter")
            with story.open() as memory:
                kept = memory.facts.get(story.facts["rounding"])
                assert kept.pinned and "theirs" not in kept.tags and memory.facts.get(story.facts["direct"]).pinned
            await person.press("u")
            await restore(person, "s", "s")
            added = {name for name, box in marks(person).items() if box == "[x]"}
            assert {jenkins, language} <= added and not added & {"D#4", "A#3", "D#3"}
            await person.press("enter")
            assert status(story, "jenkins") == ["active"]
            with story.open() as memory:
                assert memory.tasks.ids() == [2, 3]

    async def test_what_stands_against_it_is_said(self, story: Story, person: Person) -> None:
        """A record that changed while one looked; nothing that changed; no checkpoint under the cursor."""
        await restore(person)
        with story.open() as memory:
            memory.tasks.correct(3, "ask for two logos")
        before = held(story)
        await person.hears(("enter", "A#3 changed while you looked; nothing was done. Look again, and choose again."))
        assert held(story) == before
        await restore(person)
        await person.hears(("enter", "11 records changed"), (":checkpoint now", "Checkpoint K#3"))
        await person.command("checkpoints")
        await person.hears(("g R", "Nothing changed since."))
        await person.follow(("u 2 R", "Put back to…"), ("> before refactor", "RESTORE K#1", lambda: person.planning))


class TestSteps:
    async def test_a_step_is_shown_and_undone(self, story: Story, narrow: Person) -> None:
        """Of one record or several; what was undone already is said; undoing an undo is the redo."""
        await to_step(narrow, "remember F#6", story)
        await narrow.plan_of("U")
        assert narrow.sees("UNDO step 6: remember F#6", "1 of 1 chosen") and "strategy" not in narrow.lines[-1]
        await narrow.hears(("s s enter", "Undid step 6: 1 record changed; u undoes it"))
        assert status(story, "jenkins") == ["gone"] and any("undone by 31" in row for row in narrow.rows)
        await narrow.press("ctrl+r")
        assert status(story, "jenkins") == ["active"]
        await to_step(narrow, 31, story)
        await narrow.hears(("U", "Step 31 is already undone, by step 32."))
        await to_step(narrow, 32, story)
        await narrow.plan_of("U")
        assert narrow.sees("U on the new step undoes it")
        await narrow.press("enter")
        assert status(story, "jenkins") == ["gone"]
        await narrow.hears((":undo 6", "Step 6 is already undone, by step "))
        await to_step(narrow, "forget F#13 F#14", story)
        await narrow.plan_of("U")
        assert narrow.sees("UNDO step 15: forget F#13 F#14   23 Oct 2026 12:00, by user", "2 of 2 chosen")
        await narrow.hears(("j space enter", "Undid step 15: 1 record changed; u undoes it"))  # without a checkpoint
        assert sorted(status(story, "standup", "coffee")) == ["active", "forgotten"]
        with story.open() as memory:
            assert len(memory.checkpoints.list_newest_first()) == 1

    async def test_a_clash_is_shown_and_decided(self, story: Story) -> None:
        """The task was started in one step and finished in a later one."""
        with story.open() as memory:
            memory.tasks.move(2, "done")
        async with opened(story.folder) as person:
            await to_step(person, "task start A#2", story)
            await person.plan_of("U")
            assert marks(person) == {"A#2": "[!]"} and chosen(person) == "0 of 1"
            assert person.sees("[!] 1 changed since: kept unless chosen")
            assert "It was changed since. Chosen, that change is overwritten; not chosen, it stays." in told(person)
            await person.press("enter")
            assert person.planning, "nothing is guessed"
            for key, status in (("space", "pending"), ("ctrl+r", "done")):
                await person.press(key, *["enter"] * (key == "space"))
                with story.open() as memory:
                    assert memory.tasks.get(2).status == status

    async def test_what_can_never_be_says_why_and_cannot_be_chosen(self, story: Story, person: Person) -> None:
        """A decision that another one refers to cannot be undone alone."""
        await to_step(person, "decide D#2", story)
        await person.plan_of("U")
        assert marks(person) == {"D#2": "[-]"} and chosen(person) == "0 of 1"
        why = "D#3 took its place, and stays: undo the step that made D#3 first."
        assert f"Cannot be applied: {why}" in told(person)
        await person.hears(("space", why))
        await person.press("ctrl+a")
        assert chosen(person) == "0 of 1"


class TestAnOrigin:
    async def test_a_link_made_later_goes_with_an_agents_decision(self, story: Story) -> None:
        """The decision that went wrong is undone, though the import from git linked a commit to it since; or its step
        alone."""
        with story.open() as memory:
            wrong = memory.decisions.decide("Cache in Redis again", "Redis", actor="mcp:claude-code")
            memory.commits.link(story.shas["memory"], wrong, actor="import:git")
        before, link, decision = held(story), f"C#{story.shas['memory'][:7]}", cite("decision", wrong)
        async with opened(story.folder, HUGE) as person:
            await to_step(person, f"decide {decision}", story)
            await person.press("U")
            assert person.sees(f"this step alone: decide {decision}", "everything that mcp:claude-code wrote")
            await person.plan_of("down", "enter")
            rows = [" ".join(row[1:].split("│")[0].split()) for row in person.plan]
            assert rows[0].startswith(f"[x] − link {link} implements {decision} removed · import from git")
            assert rows[1].startswith(f"[x] − {decision} Cache in Redis again removed · claude-code")
            await person.press("g")
            assert f"Goes together with {decision}" in told(person)
            await person.press("j")
            assert f"Goes together with its link to {link}" in told(person)
            await person.press("space")
            assert (marks(person)["link"], marks(person)[decision]) == ("[ ]", "[ ]")
            await person.press("g", "space", "enter")
            with story.open() as memory:
                assert not memory.decisions.get_many([wrong])
            await person.press("u")
            assert held(story) == before

    async def test_all_it_wrote_with_what_clashes_left_alone(self, notes: Story) -> None:
        """From a step, a fact, the box, and by the command; a conflict can be chosen."""
        facts, before = notes.facts, held(notes)
        named = {cite("fact", facts[name]): name for name in ("confirmed", "corrected", "untouched")}
        decision, untouched = cite("decision", notes.decisions["notes"]), pack_key("fact", facts["untouched"])
        async with opened(notes.folder, HUGE) as person:
            for way in ("step", "fact", "box", "command"):
                if way == "step":
                    await to_step(person, f"remember {cite('fact', facts['untouched'])}", notes)
                    await person.press("U")
                    await person.plan_of("down", "enter")
                elif way == "command":
                    await person.command(f"undo --all-by {NOTES}")
                    await person.until(lambda: person.planning)
                else:
                    await person.start_again()
                    await person.put_cursor(untouched)
                    await (person.press("U") if way == "fact" else person.command("step.undo-all"))
                    await person.until(lambda: person.planning)
                assert person.sees(f"UNDO all that {NOTES} wrote", "a checkpoint is taken first"), way
                assert person.sees("[!] 1 changed since: kept unless chosen  [-] 1 cannot change"), way
                boxes = {named.get(citation, citation): box for citation, box in marks(person).items()}
                assert boxes == {decision: "[x]", "untouched": "[x]", "confirmed": "[!]", "corrected": "[-]"}
                last = way == "command"
                if last:
                    place = list(marks(person)).index(cite("fact", facts["confirmed"]))
                    await person.press("g", *["j"] * place)
                    assert "last changed by you, cli" in told(person)
                    await person.press("space")
                await person.press("enter")
                assert person.toasts[-1].startswith(f"{2 + last} records changed; K#"), way
                assert person.toasts[-1].endswith("is how it was; u undoes it all")
                kept = "gone" if last else "active"
                assert status(notes, "untouched", "confirmed", "right") == ["gone", kept, "active"], way
                await person.press("u")
                assert held(notes) == before

    async def test_who_is_not_undone(self, notes: Story) -> None:
        async with opened(notes.folder) as person:
            await person.hears(
                (":step.undo-all", "That is you. A checkpoint takes you back"),
                ("U", "You changed nothing in this sitting."),
                (":undo --all-by nobody", "Nobody of that name ever wrote here."),
                (":undo --all-by hook --yes", "Undid all by hook: 1 record changed."),
                (":undo --all-by hook", "Nothing of it is in force any more."),
            )
            assert not person.planning


class TestSince:
    @SIZES
    async def test_what_changed_and_a_record_opened_from_it(self, story: Story, person: Person) -> None:
        await person.command("checkpoints")
        await person.command("history.since")
        assert person.sees("Changed since")
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
        # a link opens its commit
        await to_step(person, 30, story)
        await person.command("history.since")
        await person.plan_of("enter")
        await person.press("enter")
        assert person.record is not None and person.record.citation == f"C#{story.shas['readme'][:7]}"

    async def test_typed_lines(self, person: Person) -> None:
        """Moments; and with --yes, --dry-run, --only it is not shown first but done, or read out."""
        for since, records in (("1d", 11), ("4d", 12), ("K#1", 11), ("2026-09-20", 19)):
            await person.command(f"diff {since}")
            await person.until(lambda: person.planning)
            assert f"{records} records" in person.lines[-2] and person.lines[0].startswith(" CHANGED since")
            await person.press("escape")
        await person.hears((":diff K#99", "There is no checkpoint K#99."), (":diff whenever", "That is not a time"))
        await person.hears((":checkpoint now", ""), (":diff K#2", "Nothing changed since."))
        await person.command("restore K#1 --dry-run")
        assert " ".join(person.preview).startswith("Restoring K#1 would change 11 records. - C#a383156 D#1")
        await person.hears((":restore 1 --only A#3 --yes", "Restored K#1: 1 record changed. K#3 is how it was"))
        await person.command("undo --dry-run")
        assert " ".join(person.preview).startswith("Undoing step 31 would change 1 record")
        await person.hears((":undo 15 --keep F#13", "Undid step 15: forget F#13 F#14. 1 record kept."))
        await person.command("restore 1 --kind decision")
        assert person.sees("Go on?")
        await person.press("escape")
        assert person.app.screen is person.main
