"""How long ago a thing was, wherever it is said: of what was, of what is now, of what a clock set back puts ahead."""

import re

import pytest
from support import stories
from support.commands import Do, runner
from support.stories import NOON, Story, copy

from store.base.clock import DAY_MS, format_how_long_ago, from_ms, to_ms
from store.exchange import backups as backup

# a short word of `ago` inside a sentence that was made for a number and a unit
WRONG = re.compile(
    r"\b(?:ahead|now) (?:ago|old)\b|\bjust now (?:ago|old)|\b(?:whole|longest:|\() ?(?:ahead|now)\b|made now"
)
READING = "facts --all|today|decisions --all|tasks --all|iterations|timeline|history|merge|checkpoints --all".split("|")
READING += "backups|stats|sessions|sessions discarded|doctor --quick|context|undo --dry-run 9".split("|")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    found = copy(tmp_path_factory.mktemp("times") / "billing-api")
    with found.open() as memory:
        backup.make_backup(memory.database)
        memory.checkpoints.recover(1)
        memory.inbox.propose("add", {"fact": "Invoices are numbered by year"}, origin="mcp:claude")
    return found


@pytest.fixture
def do(story: Story, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    monkeypatch.chdir(story.folder)

    return runner(capsys)


@pytest.mark.parametrize("late", [-2_000 * DAY_MS, 0, 800 * DAY_MS])
def test_no_sentence_is_wrong_at_any_time(story: Story, do: Do, late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    stories.noon(monkeypatch, from_ms(to_ms(NOON) + late))
    cited = [f"{letter}#{number}" for letter in "FDIEKAP" for number in range(1, 4)]
    for words in [*(line.split() for line in READING), *(["show", one] for one in cited)]:
        said = do(*words)
        assert not (wrong := WRONG.search(said.out + said.err)), (words, wrong, said)
    with story.open(from_ms(to_ms(NOON) + late)) as memory:
        assert not WRONG.search(" ".join(backup.backup_status(memory.database, memory.now)))


def test_a_phrase_reads_as_one() -> None:
    assert [
        format_how_long_ago(NOON, from_ms(to_ms(NOON) - late)) for late in (-DAY_MS, -30_000, 0, 60_000, DAY_MS)
    ] == ["in the future", "just now", "just now", "1 min ago", "1 d ago"]
