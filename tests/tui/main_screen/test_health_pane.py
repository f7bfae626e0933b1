"""The health pane: every figure with what it means, what nobody can know yet, where Enter leads, and what stays put."""

import json

import pytest
from support.screen import HUGE, NARROW, WIDE, Person, opened
from support.stories import NOON, Story, noon
from support.strangers import PAYLOADS

from store.conversations.turns import NewTurn
from store.learning import rule_pass
from store.memory import Memory
from tui.cli import run_command
from tui.commands.health import stats_lines
from tui.lists.pane_rows import HealthRows
from tui.render.metrics import Figure, draw_steps, format_duration, format_percent, metric_sections

SIZES = pytest.mark.parametrize("size", [NARROW, WIDE, HUGE], ids=["80x24", "120x40", "200x60"])


@pytest.fixture
def lived(story: Story, monkeypatch: pytest.MonkeyPatch) -> Story:
    """Two conversations, a turn that cannot be read, contexts, one of them answered, searches."""
    with story.open() as memory:
        memory.turns.add_turns(
            "monday", [NewTurn("user", "does the build run on Jenkins?"), NewTurn("assistant", "word " * 300)]
        )
        memory.checkpoints.record_session_end(session="monday")
        memory.turns.add_turns("tuesday", [NewTurn("user", "and who deploys?")])
        context = memory.context("does the build run on Jenkins?", "tuesday")
        number = memory.context.sent_log.log_context(context)
        cited = [one.fact.citation for one in context.considered if one.included]
        memory.context.sent_log.log_answer(number, valid=True, cited=cited)
        for query in ("jenkins", "jenkins", "zebra"):
            memory.search.log.add_query(query)
            memory.search.log.log_answer(memory.search(query, meaning=False))
    with monkeypatch.context() as patch:
        patch.setattr("store.conversations.extraction_queue.BACKOFF_MS", (0, 0, 0))
        real = rule_pass.plan_actions

        def stumbles(turn: object, *rest: object) -> object:
            if turn.id == 1:  # type: ignore[attr-defined]
                raise RecursionError("what was said")
            return real(turn, *rest)  # type: ignore[arg-type]

        patch.setattr("store.learning.rule_pass.plan_actions", stumbles)
        with story.open() as memory:
            rule_pass.run_rule_pass(memory)
    return story


def shown(person: Person) -> list[str]:
    return person._rows("health")


def told(person: Person) -> str:
    """The preview, whose lines are wrapped, as one."""
    return " ".join(" ".join(person.preview).split())


async def at(person: Person, key: str) -> None:
    await person.press("9")
    await person.until(lambda: shown(person))
    await person.put_cursor(key, "health")


def row(person: Person, label: str) -> str:
    """A figure's line, wherever it is scrolled to."""
    rows = person.main.list_of("health").rows
    assert isinstance(rows, HealthRows)
    lines = ["".join(text for text, _ in rows.lines(index, 56)[0]) for index in range(len(rows))]
    return next(line for line in lines if line[2:].startswith(label))


@SIZES
async def test_every_figure_stands_there_with_its_chart(lived: Story, size: tuple[int, int]) -> None:
    async with opened(lived.folder, size) as person:
        await at(person, "fresh")
        assert person.at == "health" and "health" in person.seen
        assert "█" in row(person, "fresh") and row(person, "stale").startswith("▲")
        assert "turns" in row(person, "monday") and "50 %" in row(person, "covered")
        assert "1 answered" in row(person, "cited") and "%" in row(person, "cited")
        assert row(person, "read").startswith("⚠") and "1 of 4 by rules" in row(person, "read")
        assert "RecursionError" in row(person, "T#1") and "does the build" in row(person, "T#1")
        assert "67 %" in row(person, "found") and "2 ×" in row(person, "jenkins")
        assert " ms" in row(person, "keywords") and any(step in row(person, "keywords") for step in "▁▂▃▄▅▆▇█")
        assert "FTS5" in row(person, "full text") and row(person, "full text").startswith("✓")
        assert "of 3,050 tokens" in row(person, "mean") and row(person, "recovered").startswith("•")
        assert "from one to the next" in row(person, "between") and row(person, "crashes").startswith("✓")
        assert "MB" in row(person, "memory") or "kB" in row(person, "memory")
        for strip in person.strips:
            assert strip.cell_length == size[0]


async def test_the_bars_of_the_facts_have_one_scale_and_a_trend(lived: Story) -> None:
    """A full bar is all facts; how many came in 30 days is beside it, and twelve weeks of learning as columns."""
    async with opened(lived.folder, WIDE) as person:
        await at(person, "fresh")
        rows = person.main.list_of("health").rows
        assert isinstance(rows, HealthRows)
        figures = {one.key: one for one in rows._rows if isinstance(one, Figure)}
        states = [figures[name] for name in ("fresh", "aging", "low", "stale")]
        assert abs(sum(one.share or 0.0 for one in states) - 1) < 1e-9
        assert "in 30 d" in row(person, "stale") and "became so in the last 30 days" in " ".join(figures["stale"].says)
        assert len(figures["learned"].series) == 12 and any(step in row(person, "learned") for step in "▁▂▃▄▅▆▇█")


async def test_what_nobody_can_know_yet_says_so_and_is_no_nought(person: Person) -> None:
    await at(person, "useful")
    for label, words in (
        ("cited", "no answer was rated yet"),
        ("read", "no turn was read yet"),
        ("takes", "nothing was searched yet"),
        ("reused", "no answer was looked for yet"),
        ("sessions", "none yet"),
        ("sent", "none was sent yet"),
        ("backups", "none yet"),
        ("requests", "no turn asked for anything yet"),
        ("model", "no vectors yet"),
        ("mean", "no request was measured yet"),
    ):
        assert words in row(person, label) and "0" not in row(person, label), label
    assert "No answer was rated yet." in told(person) and "enter" not in told(person)
    await person.press("enter")
    assert person.at == "preview", "it leads nowhere else"


async def test_the_preview_says_what_it_means_from_how_much_it_is_known_and_what_enter_does(lived: Story) -> None:
    async with opened(lived.folder, NARROW) as person:
        await at(person, "stale")
        assert "of 10" in told(person) and "no agent is sent them" in told(person)
        assert told(person).endswith("enter lists them")
        await at(person, "useful")
        assert "tokens of 1 context with an answer" in told(person) and "Mute what is sent again" in told(person)
        await at(person, "success")
        assert "1 of 4 tries to read a turn came to an end" in told(person)
        await at(person, "session monday")
        assert "2 turns" in told(person) and "No agent was sent a context for it" in told(person)


async def test_stale_facts_are_listed_and_one_key_from_there_confirms(lived: Story) -> None:
    async with opened(lived.folder, WIDE) as person:
        await at(person, "stale")
        before = row(person, "stale")
        await person.press("enter")
        await person.until(lambda: "found" in person.lines[1])
        await person.until(lambda: any("Jenkins" in hit for hit in person.hits))
        assert all(hit[1:3] == "▲ " for hit in person.hits)
        await person.press("enter", "y")
        await person.press("escape", "9")
        await person.until(lambda: row(person, "stale") != before)


async def test_the_oldest_fact_is_shown_and_confirmed_where_it_stands(lived: Story) -> None:
    async with opened(lived.folder, WIDE) as person:
        await at(person, "oldest")
        assert person.record is not None and person.record.citation == f"F#{lived.facts['release']}"
        assert row(person, "oldest").endswith(" d unpinned"), "a pinned one may be older"
        assert told(person).startswith("oldest F#") and "nobody confirmed this one for the longest" in told(person)
        await person.press("y")
        await person.until(lambda: "Jenkins" in row(person, "oldest"))
        await person.until(lambda: person.record and person.record.citation == f"F#{lived.facts['jenkins']}")
        await person.press("enter")
        assert person.at == "preview"


async def test_enter_goes_where_a_figure_leads(lived: Story) -> None:
    async with opened(lived.folder, WIDE) as person:
        for key, place, sees in (
            ("fresh", "facts", "newest first"),
            ("session tuesday", "context", " Context"),
            ("covered", "checkpoints", " Checkpoints"),
            ("useful", "context", " Context"),
            ("success", "inbox", " All "),
            ("failed 1", "preview", "does the build run"),
            ("query jenkins", "query", " All "),
        ):
            await at(person, key)
            await person.press("enter")
            await person.until(
                lambda place=place, sees=sees: person.at == place and any(sees in line for line in person.lines)
            )


async def test_figures_move_while_the_cursor_stays_and_are_dated(lived: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are not measured again at once, for what it would cost, are measured a little later."""
    monkeypatch.setattr("tui.workers.engine.MEASURE_REST", 60)
    async with opened(lived.folder, WIDE) as person:
        await at(person, "fresh")
        assert "as of 21 Nov 2026 12:00" in person.title
        first = told(person)
        with lived.open() as memory:
            memory.facts.remember("somebody else remembers something")
        await person.until(lambda: told(person) != first)
        assert person.main.list_of("health").cursor_key == "fresh" and person.at == "health"


async def test_what_is_searched_in_the_application_is_measured(story: Story, person: Person) -> None:
    for _ in range(2):
        await person.search("jenkins")
        await person.press("enter")
        await person.press("escape")
    await at(person, "fresh")
    await person.until(lambda: "2 ×" in row(person, "jenkins"))
    assert "100 %" in row(person, "found") and "of 2" in row(person, "found")
    with story.open() as memory:
        assert [found for _, _, found in memory.search.log.last_searches()] == [1, 1]


async def test_in_the_past_only_ages_are_of_then(lived: Story) -> None:
    async with opened(lived.folder, WIDE) as person:
        await at(person, "stale")
        now = row(person, "stale")
        await person.press("@")
        await person.paste("100d")
        await person.press("enter")
        await person.until(lambda: any("the rest is of now" in line for line in shown(person)))
        assert row(person, "stale") != now and not any("memory" in line for line in shown(person))
        await person.press("escape")
        await person.until(lambda: any("on the disk" in line for line in shown(person)))


async def test_figures_are_not_marked(lived: Story) -> None:
    async with opened(lived.folder, WIDE) as person:
        await at(person, "stale")
        for key in ("space", "v", "ctrl+a"):
            await person.press(key)
            assert not person.main.list_of("health").marks
        assert "Figures are not marked" in person.toasts[-1]
        person.app.clear_notifications()  # a warning stands in the place of the keys for some seconds
        await person.press("j")
        assert "mark" not in person.lines[-1] and "go there" in person.lines[-1]


async def test_the_verbs_in_the_bar_open_the_panes(person: Person) -> None:
    await person.command("stats")
    assert person.at == "health"
    await person.command("inbox")
    assert person.at == "inbox"


async def test_hostile_text_is_shown_and_not_obeyed(story: Story) -> None:
    with story.open() as memory:
        for payload in PAYLOADS.values():
            if payload.strip():
                memory.turns.add_turns(f"s {payload}", [NewTurn("user", f"hostile {payload}")])
                memory.search.log.add_query(payload)
    async with opened(story.folder, WIDE) as person:
        await at(person, "fresh")
        for _ in range(14):
            await person.press("j")
            for strip in person.strips:
                assert strip.cell_length == person.app.size.width
                assert not any(ord(char) < 32 or char == "\u202e" for segment in strip for char in segment.text)


def test_the_command_line_says_the_same(lived: Story) -> None:
    with lived.open(NOON) as memory:
        lines = stats_lines(metric_sections(measured(memory)))
    assert [line for line in lines if line and not line.startswith(" ")] == [
        *("FACTS BY AGE", "TOKENS BY CONVERSATION", "CONTEXTS", "LEARNING", "SEARCH", "RECOVERY", "ON THE DISK")
    ]
    assert "      memoranda show T#1" in lines, "what is poor says where to look"
    assert any("no answer was looked for yet" in line for line in lines)


def test_a_search_on_the_command_line_is_noted_once_it_was_answered(
    story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    noon(monkeypatch)
    assert run_command(["--db", str(story.path), "search", "--keywords", "jenkins"]) == 0
    assert "1 found" in capsys.readouterr().out
    with story.open() as memory:
        assert [(meaning, found) for _, meaning, found in memory.search.log.last_searches()] == [(False, 1)]
    assert run_command(["--db", str(story.path), "stats", "--json"]) == 0
    health = json.loads(capsys.readouterr().out)["health"]
    assert health["searches"]["found"] == 1 and health["useful"] is None


def measured(memory: Memory) -> object:
    from store.upkeep.metrics import measure

    return measure(memory)


def test_stats_tells_the_index_the_requests_and_the_recoveries(
    lived: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    noon(monkeypatch)
    assert run_command(["--db", str(lived.path), "stats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for start in ("✓ full text", "· model", "· requests", "✓ mean", "• recovered", "• between", "✓ crashes"):
        assert any(line.strip().startswith(start) for line in lines), start
    assert run_command(["--db", str(lived.path), "stats", "--json"]) == 0
    health = json.loads(capsys.readouterr().out)["health"]
    assert health["index"]["full_text"] is True and health["index"]["indexed"] == health["index"]["passages"] > 0
    assert health["requests"] == {"asked": 0, "kept": 0} and health["recoveries"]["checkpoints"] > 0
    assert 0 < health["mean_tokens"] < 3_050


def test_the_time_between_checkpoints_is_told_in_its_largest_unit() -> None:
    told = [format_duration(seconds) for seconds in (0, 59, 60, 300, 7_199, 7_200, 86_400, 172_800)]
    assert told == ["0 s", "59 s", "1 min", "5 min", "120 min", "2 h", "24 h", "2 d"]


def test_what_is_not_nothing_is_not_called_nothing() -> None:
    assert [format_percent(share) for share in (0, 0.001, 0.5, 0.999, 1)] == ["0 %", "<1 %", "50 %", ">99 %", "100 %"]
    assert draw_steps((0, 50, 100)) == "▁▅█" and draw_steps(()) == "" and draw_steps((0, 0)) == "▁▁"
    assert len(draw_steps(range(100))) == 24 and draw_steps((1, 2, 9), 2) == "▃█"


@pytest.mark.parametrize("width", [43, 70, 80])
def test_a_conversations_name_is_never_shortened(lived: Story, width: int) -> None:
    uuid = "0b1f6c1e-3f7e-4a0e-9d61-2f4a1c5f7a10"
    with lived.open() as memory:
        memory.turns.add_turns(uuid, [NewTurn("user", "and who deploys on Fridays, and from where?")])
        memory.turns.add_turns("faster-import", [NewTurn("user", "who pays?")])
        rows = HealthRows(metric_sections(measured(memory)), {}, memory.now)
    drawn = [
        "".join(text for text, _ in line).rstrip() for index in range(len(rows)) for line in rows.lines(index, width)
    ]
    assert any(line.split()[1:2] == ["faster-import"] for line in drawn)
    assert any(uuid in line for line in drawn)
