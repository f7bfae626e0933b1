"""Sharing on the command line: seen first, sent to the project's remote, and what arrives waits in the inbox."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support import repositories
from support.commands import Do, Said, runner


class Checkout:
    """One person's clone of the project, on a machine of their own: another home, in this process."""

    def __init__(self, folder: Path, origin: Path, name: str, run: Do) -> None:
        subprocess.run(["git", "clone", "--quiet", str(origin), str(folder)], check=True, capture_output=True)
        subprocess.run(["git", "-C", str(folder), "config", "user.name", name], check=True)
        self.folder, self._run = folder, run
        home = folder.parent / f"home of {name}"
        home.mkdir()
        self.environment = {"HOME": str(home), "MEMORANDA_WITHOUT": "model"}

    def do(self, *words: str) -> Said:
        with pytest.MonkeyPatch.context() as patch:
            for key in [key for key in os.environ if key.startswith("XDG_")]:
                patch.delenv(key)
            for key, value in self.environment.items():
                patch.setenv(key, value)
            patch.chdir(self.folder)
            return self._run(*words)


@pytest.fixture
def two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Checkout, Checkout]:
    origin, run = tmp_path / "origin.git", runner(capsys)
    subprocess.run(["git", "init", "--quiet", "--bare", str(origin)], check=True)
    return Checkout(tmp_path / "ana", origin, "Ana Pérez", run), Checkout(tmp_path / "bob", origin, "Bob", run)


def on_the_remote(checkout: Checkout) -> str:
    """Everything that was ever written to the remote and is still there."""
    return repositories.git(checkout.folder.parent / "origin.git", "log", "--all", "-p", "--format=")


def test_two_people_share_through_the_remote_of_their_project(two: tuple[Checkout, Checkout], tmp_path: Path) -> None:
    ana, bob = two
    ana.do("remember", "Releases are cut on Tuesdays", "--domain", "work")
    ana.do("remember", "Allergic to peanuts", "--domain", "personal")
    about = ("--context", "10k a second", "--alternative", "SQS", "--rationale", "small\nand quick", "--impact", "high")
    ana.do("decide", "Queue", "--chosen", "NATS", *about)
    assert "Nothing is shared" in ana.do("share").out
    seen = ana.do("share", "work", "decisions", "--dry-run")
    assert "Would share 2 records" in seen.out and "NATS" in seen.out and "peanuts" not in seen.out
    parts = ("context      10k a second", "instead of   SQS", "because      small ⏎ and quick", "impact       high")
    assert all(part in seen.out for part in parts), "all that would leave this machine"
    assert not (tmp_path / "origin.git" / "refs" / "memoranda").exists(), "nothing was sent yet"
    refused = ana.do("share", "work", "decisions")
    assert refused.status != 0 and "--yes" in refused.err, "nobody is there to say yes"
    assert "Shared 2 records through origin" in ana.do("share", "work", "decisions", "--yes").out
    assert "all of it was sent" in ana.do("share").out

    assert "Ana Pérez" in bob.do("team", "sync").out
    inbox = bob.do("today").out
    assert "Releases are cut on Tuesdays" in inbox and "Queue" in inbox
    assert "Releases" not in bob.do("facts").out, "it waits for Bob"
    assert "Releases" not in bob.do("context").out, "and no agent is sent it"
    assert bob.do("accept", "--all", "--yes").status == 0 or bob.do("accept", "1", "2").status == 0
    assert "Releases are cut on Tuesdays" in bob.do("facts").out
    bob.do("team", "sync")
    assert "Shared as D1@" in bob.do("show", "D#1").out and "`Decision: D1@" in ana.do("show", "D#1").out
    members = json.loads(bob.do("team", "--json").out)
    assert [(one["name"], one["you"], one["records"]) for one in members] == [("Ana Pérez", False, 2)]
    assert members[0]["operations"] == 3 and members[0]["bytes"] > 400
    assert "2 records, 3 operations, " in bob.do("team").out
    branches = repositories.git(ana.folder, "for-each-ref")
    assert "memoranda" not in branches, "nothing is in the project's own repository"


def test_sync_is_of_the_files_and_of_the_team(two: tuple[Checkout, Checkout]) -> None:
    ana, bob = two
    ana.do("remember", "Releases are cut on Tuesdays", "--domain", "work")
    ana.do("share", "work", "--yes")
    assert "received" in bob.do("sync", "--team").out and not (bob.folder / "MEMORY.md").exists()
    ana.do("remember", "The wiki is at wiki.example", "--domain", "work")
    assert "sent" not in ana.do("sync", "--files").out.lower()
    done = ana.do("sync")
    assert "MEMORY.md" in done.out and "Sent 1 change" in done.out
    assert json.loads(ana.do("sync", "--json").out)["team"]["sent"] == 0
    refused = ana.do("sync", "MEMORY.md", "--team")
    assert refused.status == 2 and "--team is the exchange with the team alone" in refused.err
    (ana.folder.parent / "origin.git").rename(ana.folder.parent / "elsewhere.git")
    done = ana.do("sync")
    assert done.status == 1 and "The team could not be reached" in done.out and "MEMORY.md" in done.out


def test_a_purge_says_whom_it_cannot_reach_and_leaves_nothing_here(two: tuple[Checkout, Checkout]) -> None:
    ana, _ = two
    ana.do("remember", "The safe opens with swordfish", "--domain", "work")
    ana.do("share", "work", "--yes")
    assert ana.do("verify-forgotten", "opens with swordfish").status == 1
    assert "shared: `team sync` erases it from origin" in ana.do("purge", "1", "--dry-run").out, "before it is done"
    done = ana.do("purge", "1", "--yes")
    assert done.status == 3, done.err
    assert "team sync" in done.out, "it is still on the remote, until the next exchange"
    assert ana.do("verify-forgotten", "opens with swordfish").status == 0
    ana.do("team", "sync")
    assert "swordfish" not in on_the_remote(ana)


def test_a_purge_reaches_what_was_shared_before_team_new(two: tuple[Checkout, Checkout]) -> None:
    ana, _ = two
    ana.do("remember", "The safe opens with swordfish", "--domain", "work")
    ana.do("share", "work", "--yes")
    assert "goes on as" in ana.do("team", "new").out
    assert "you before, 1 record" in ana.do("team").out
    assert "who you were before, shared: `team sync` erases it from" in ana.do("purge", "1", "--dry-run").out
    assert ana.do("purge", "1", "--yes").status == 3
    assert ana.do("verify-forgotten", "opens with swordfish").status == 0
    assert ana.do("team", "sync").status == 0
    assert "swordfish" not in on_the_remote(ana)


def test_a_machine_that_the_project_alone_was_copied_to_goes_on(two: tuple[Checkout, Checkout]) -> None:
    ana, bob = two
    ana.do("init", "--db", ".memoranda/memory.db")
    ana.do("remember", "The safe opens with swordfish", "--domain", "work")
    ana.do("share", "work", "--yes")
    bob.do("team", "sync")
    shutil.copytree(ana.folder / ".memoranda", bob.folder / ".memoranda", dirs_exist_ok=True)  # it was Ana's machine
    shutil.rmtree(bob.folder.parent / "home of Bob")
    assert bob.do("adopt", "--whole", "--yes").status == 0
    done = bob.do("share", "work", "--yes")
    assert "Shared 0 records" in done.out and "shared before, by a copy of this memory: 1 record" in done.out
    assert bob.do("team", "was").status == bob.do("team", "was", "Eve").status == 2
    assert "was you: what you forget" in bob.do("team", "was", "Ana").out
    assert bob.do("purge", "1", "--yes").status == 3 and bob.do("team", "sync").status == 0
    assert "swordfish" not in on_the_remote(ana)


def test_global_facts_are_shared_where_they_lie(two: tuple[Checkout, Checkout]) -> None:
    ana, _ = two
    ana.do("remember", "Answers are short", "--domain", "preferences", "--scope", "global")
    origin = str(ana.folder.parent / "origin.git")
    ana.folder = ana.folder.parent / "home of Ana Pérez"
    ana.do("remember", "The lamp is warm", "--domain", "preferences")
    assert "holds in every project too" in ana.do("share").out
    seen = ana.do("share", "preferences", "--remote", origin, "--dry-run").out
    assert "1 global fact not among them: add the word global." in seen and "Answers" not in seen
    said = ana.do("share", "preferences", "global", "--remote", origin, "--yes").out
    assert "preferences global  Answers are short" in said
    assert "Shared through" in (said := ana.do("share").out) and "preferences global; all of it was sent" in said


def test_what_cannot_be_done_is_said(two: tuple[Checkout, Checkout], tmp_path: Path) -> None:
    ana, _ = two
    for words, why in (
        (("share", "personal", "--yes"), "nothing that can be shared"),
        (("share", "global", "--yes"), "Global facts of which domains?"),
        (("share", "work", "global", "--yes"), "Global facts lie in your personal memory"),
        (("share", "off", "work"), "Sharing is off, or it is of something"),
        (("share", "work", "--remote", "upstream", "--yes"), "no remote upstream"),
        (("team", "snyc"), "team does not know “snyc”."),
        (("team", "sync", "--dry-run"), "team sync has no option “--dry-run”; it has: none."),
        (("team", "believe"), "Whom?"),
        (("team", "trust"), "Whom?"),
        (("replicate",), "Where to?"),
        (("team", "believe", "Zoe", "work"), "Nobody here is called Zoe"),
    ):
        done = ana.do(*words)
        assert done.status and why in done.err, (words, done)
    subprocess.run(["git", "-C", str(ana.folder), "remote", "set-url", "origin", str(tmp_path / "nowhere")], check=True)
    done = ana.do("share", "work", "--yes")
    assert done.status == 1 and "There is no git repository at" in done.err and "Traceback" not in done.err


def test_a_changed_key_is_named_and_taken_when_a_person_agrees(two: tuple[Checkout, Checkout], tmp_path: Path) -> None:
    ana, bob = two
    config = Path(ana.environment["HOME"]) / ".config" / "memoranda" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[team]\nsign = true\n")
    ana.environment["GIT_CONFIG_GLOBAL"] = str(tmp_path / "gitconfig")
    for name in ("first", "second"):
        key = tmp_path / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
        (tmp_path / "gitconfig").write_text(f"[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {key}\n")
        ana.do("remember", f"The {name} key is on the shelf", "--domain", "work")
        shared = ana.do("share", "work", "--yes")
        assert shared.status == 0, shared
        bob.do("team", "sync")
        assert "first key" in bob.do("today").out and "second key" not in bob.do("today").out
    named = bob.do("team")
    assert named.status == 5 and "signed by SHA256:" in named.out and "signed by another key" in named.out
    done = bob.do("team", "trust", "Ana")
    assert done.status == 0 and "signs with SHA256:" in done.out, done
    assert "second key" in bob.do("today").out and bob.do("team").status == 0
