"""Whoever writes something is told at once what was cut out of it: the rule and the place, never the value, and what to
do if it was no secret."""

import json
from pathlib import Path

import pytest
from support import repositories, secrets
from support.commands import Do, runner
from support.screen import NARROW, opened
from support.stories import Story, copy

TOKEN = "ghp" + "_" + secrets.word(36)
OTHER = "sk" + "_live_" + secrets.word(24)


@pytest.fixture
def do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Do:
    project = tmp_path / "project"
    repositories.commit(project, "first")
    monkeypatch.chdir(project)

    return runner(capsys)


@pytest.mark.parametrize(
    ("words", "place"),
    [
        (("remember", f"push with {TOKEN}"), "F#1 fact"),
        (("decide", "Push", "--chosen", f"with {TOKEN}"), "D#1 chosen"),
        (("decide", "Push", "--chosen", "so", "--rationale", f"as {TOKEN}"), "D#1 rationale"),
    ],
)
def test_the_answer_says_what_was_cut_where_and_what_to_do(do: Do, words: tuple[str, ...], place: str) -> None:
    said = do(*words)
    assert said.status == 0 and TOKEN not in said.out + said.err
    assert f"Cut as a secret: GITHUB_TOKEN in {place}. If it is none:" in said.out
    assert "memoranda secrets allow GITHUB_TOKEN [SHAPE]" in said.out


def test_a_script_is_told_too(do: Do) -> None:
    data = do("remember", f"{TOKEN} or {OTHER} or {OTHER[:-1]}7", "--json").data
    cut = {"citation": "F#1", "field": "fact"}
    rules = ("GITHUB_TOKEN", 1), ("STRIPE_KEY", 2)
    assert data["redacted"] == [{**cut, "rule": rule, "count": count} for rule, count in rules]
    assert "redacted" not in do("remember", "nothing to cut", "--json").data


def test_what_was_cut_before_is_not_told_again(do: Do) -> None:
    do("remember", f"push with {TOKEN}")
    said = do("correct", "1", "push with [REDACTED:GITHUB_TOKEN], from home")
    assert said.status == 0 and "Cut" not in said.out
    both = do("correct", "2", f"push with [REDACTED:GITHUB_TOKEN], pay by {OTHER}")
    assert "Cut as a secret: STRIPE_KEY in F#3 fact." in both.out


def test_what_is_allowed_is_not_told(do: Do) -> None:
    do("redactions", "allow", "GITHUB_TOKEN")
    assert "Cut" not in do("remember", f"push with {TOKEN}").out


def test_bringing_in_says_it_of_the_turns(do: Do) -> None:
    lines = [{"role": "user", "content": text} for text in (f"use {TOKEN}", "thanks for the importer", f"or {OTHER}")]
    Path("talk.jsonl").write_text("\n".join(map(json.dumps, lines)))
    said = do("import", "talk.jsonl")
    assert "GITHUB_TOKEN in T#1 text" in said.out and "STRIPE_KEY in T#3 text" in said.out
    assert "secrets allow RULE [SHAPE]" in said.out, "several rules: any of them may be wrong"


def test_an_import_names_table_column_and_rule(do: Do) -> None:
    do("redactions", "allow", "GITHUB_TOKEN")
    do("remember", f"push with {TOKEN}")
    do("export", "all.json")
    do("redactions", "cut", "GITHUB_TOKEN")
    seen = do("--db", "other.db", "import", "all.json", "--dry-run", "--json")
    places = {(one["table"], one["field"], one["rule"]) for one in seen.data["redacted"]}
    assert ("facts", "fact", "GITHUB_TOKEN") in places and TOKEN not in seen.out
    assert "GITHUB_TOKEN in facts: fact" in do("--db", "other.db", "import", "all.json", "--dry-run").out


async def test_the_application_says_it_for_long_enough(tmp_path: Path) -> None:
    story: Story = copy(tmp_path / "billing-api")
    async with opened(story.folder, NARROW) as person:
        await person.command("tasks")
        await person.press("a")
        await person.fill(f"rotate {TOKEN}")
        (toast,) = person.toasts
        assert toast.startswith("Added A#4, u to undo. Cut as a secret: GITHUB_TOKEN in A#4 text.")
        assert "secrets allow GITHUB_TOKEN" in toast
        await person.command(f"remember push with {OTHER}")
        assert any("STRIPE_KEY in F#" in said for said in person.toasts)
