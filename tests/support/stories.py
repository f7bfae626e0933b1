"""A realistic project for tests of the interfaces: a year of memory beside a real git repository.

Everything is written in chronological order by a fixed clock, so that ids, ages and shas are the same on any day and
machine."""

import atexit
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
from support import repositories
from support.ours import in_checkout, ours

from store.base.clock import from_ms, to_ms
from store.base.location import Location
from store.config.configuration import project_settings_path, write_setting
from store.inbox import duplicates
from store.memory import Memory
from store.projects.locating import locate
from store.upkeep import maintenance

NOON = "2026-11-21T12:00:00.000Z"


class Clock:
    """A clock that shows the time it was set to."""

    def __init__(self, now: str = NOON) -> None:
        self.now = now

    def __call__(self) -> str:
        return self.now

    def back(self, days: float, now: str = NOON) -> None:
        """Set it to `days` before `now`."""
        self.now = from_ms(to_ms(now) - round(days * 86_400_000))


def noon(monkeypatch: pytest.MonkeyPatch, now: str = NOON) -> None:
    """Start the clock of the doors in this process at `now`, from where it runs; the story's daily backup is then never
    due."""
    late = time.time_ns() - to_ms(now) * 1_000_000
    here = SimpleNamespace(time_ns=lambda: time.time_ns() - late, gmtime=time.gmtime)
    monkeypatch.setattr("store.base.clock.time", here)


@dataclass(frozen=True)
class Story:
    """A project's folder, and the ids of its records, by name."""

    folder: Path
    facts: dict[str, int] = field(default_factory=dict)
    decisions: dict[str, int] = field(default_factory=dict)
    shas: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / ".memoranda" / "memory.db"

    @property
    def location(self) -> Location:
        return location(self.folder)

    def open(self, now: str = NOON, door: str = "cli") -> Memory:
        """Open the memory, to read or to change it behind the app's back."""
        return Memory(self.location, door, Clock(now))


def location(folder: Path) -> Location:
    """Return the location of the folder's memory, whether it exists or not."""
    return in_checkout(locate(None, {}, os.fspath(folder if folder.is_dir() else folder.parent)))


# name, days since the last confirmation, domain, text, further arguments of `remember`
FACTS: tuple[tuple[str, float, str, str, dict[str, object]], ...] = (
    ("nuts", 400, "personal", "Alérgica al maní", {"pinned": True}),
    ("release", 200, "projects", "Releases are cut from main, never from a branch", {}),
    ("jenkins", 133, "work", "Uses Jenkins for the nightly build", {"confidence": "medium"}),
    ("fridays", 94, "projects", "Deploy on Fridays, after lunch", {"confidence": "medium", "actor": "agent"}),
    ("kubernetes", 40, "work", "May move to Kubernetes next year", {"confidence": "low", "source": "inferred"}),
    ("rounding", 20, "general", "Las facturas se redondean a dos decimales", {"tags": ["facturas", "dinero"]}),
    ("language", 5, "self_correction", "Responder en español, salvo en el código", {"actor": "hook"}),
    ("direct", 3, "preferences", "Direct answers, no hedging", {"actor": "mcp:claude-code"}),
    ("model", 0.1, "decisions", "Primary LLM: Kimi K2.5, then Sonnet", {"evidence": ["D#1"]}),
)


def tell(folder: Path) -> Story:
    """Build the project: facts of every badge and domain, a chain of corrections, forgotten ones, decisions linked to
    commits, events, iterations, a checkpoint, tasks. The last record is from an hour before NOON."""
    story = Story(folder)
    clock = Clock()
    facts, decisions, shas = story.facts, story.decisions, story.shas
    repositories.create(folder)
    with Memory(location(folder), "cli", clock) as memory:
        for name, days, domain, text, more in FACTS[:2]:
            clock.back(days)
            facts[name], _ = memory.facts.remember(text, domain=domain, **more)  # type: ignore[arg-type]

        clock.back(190)
        facts["three"], _ = memory.facts.remember("Team of three", domain="work")
        clock.back(150)
        facts["four"] = memory.facts.correct(facts["three"], "Team of four")
        clock.back(71)
        facts["five"] = memory.facts.correct(facts["four"], "Team of five, two of them part time")

        for name, days, domain, text, more in FACTS[2:]:
            clock.back(days)
            facts[name], _ = memory.facts.remember(text, domain=domain, **more)  # type: ignore[arg-type]
        clock.back(30)
        for name, text in (("standup", "Stand-up at nine"), ("coffee", "La máquina de café está en la planta dos")):
            facts[name], _ = memory.facts.remember(text)
        clock.back(29)
        memory.facts.forget([facts["standup"], facts["coffee"]])

        clock.back(3.2)
        feature = memory.iterations.start_iteration("feature", "guardar facturas", actor="agent")
        clock.back(3.1)
        decisions["sqlite"] = memory.decisions.decide(
            "Use SQLite, not PostgreSQL",
            "SQLite, WAL",
            context="Deployment may not depend on an external service.",
            alternatives=["PostgreSQL", "DuckDB"],
            rationale="One file, no service to run; a copy is a backup. El despliegue queda en un solo archivo.",
            impact="high",
            phase="architecture",
        )
        memory.events.log("phase_completed", phase="architecture", payload={"gates": ["schema", "backup"], "took": 42})
        clock.back(2.9)
        schema = {"src/store.py": "import sqlite3\n\n\ndef connect(path):\n    return sqlite3.connect(path)\n"}
        shas["schema"] = _commit(folder, clock, "store: schema v1\n\nThe first tables, as D#1 says.", schema)
        clock.back(2.8)
        shas["readme"] = _commit(folder, clock, "docs: cómo se instala", {"README.md": "# billing-api\n\nuno\ndos\n"})
        clock.back(2.7)
        memory.iterations.end_iteration(
            feature, phases=["architecture", "build"], artifacts=["src/store.py"], actor="agent"
        )

        clock.back(1.9)
        decisions["redis"] = memory.decisions.decide("Cache in Redis", "Redis 8", alternatives=["memcached"])
        clock.back(1.8)
        cache = {"src/cache.py": "TTL = 60\n\n\ndef get(key):\n    return redis.get(key)\n"}
        shas["cache"] = _commit(folder, clock, "feat: redis cache", cache)
        clock.back(1.5)
        memory.checkpoints.take_checkpoint("before refactor")

        clock.back(0.5)
        decisions["memory"] = memory.decisions.decide(
            "Cache in memory",
            "a dict with a limit",
            supersedes=decisions["redis"],
            rationale="Redis was one more service.",
        )
        decisions["pdf"] = memory.decisions.decide("Facturas en PDF/A", "PDF/A-3", impact="low", actor="agent")
        decisions["fax"] = memory.decisions.decide("Send invoices by fax", "fax", impact="low")
        memory.decisions.forget([decisions["fax"]])
        memory.iterations.start_iteration("fix", "redondeo de céntimos")
        clock.back(0.2)
        cache = {"src/cache.py": "TTL = 60\nLIMIT = 1000\n\n\ndef get(key):\n    return kept.get(key)\n"}
        shas["memory"] = _commit(folder, clock, "fix: keep the cache in memory", cache)
        clock.back(0.15)
        memory.events.log("gate_passed", phase="build")
        tasks = (("write the migration", "done"), ("probar el redondeo", "in_progress"), ("ask for a logo", "pending"))
        for text, status in tasks:
            number = memory.tasks.add_task(text)
            if status != "pending":
                memory.tasks.move(number, status)

        clock.back(0.05)
        source = maintenance.timeline_repository(memory, os.fspath(folder))
        assert source is not None
        settings = project_settings_path(memory.location)
        assert settings is not None
        write_setting(settings, "capture_decisions", "false")  # the links are written below
        maintenance.read_new_commits(memory, source)
        os.remove(settings)
        memory.commits.link(shas["schema"], decisions["sqlite"])
        memory.commits.link(shas["memory"], decisions["memory"])
        memory.commits.link(shas["memory"], decisions["redis"], "reverts")
        memory.commits.link(shas["readme"], decisions["sqlite"], "relates", actor="agent")
        duplicates.mark_all_compared(memory.database)
    return story


def _commit(folder: Path, clock: Clock, message: str, files: dict[str, str]) -> str:
    return repositories.commit(folder, message, files, when=to_ms(clock()) // 1000)


def copy(folder: Path) -> Story:
    """Copy the project to `folder`; built once for all tests of this process."""
    told = _told()
    shutil.copytree(told.folder, folder)
    made = replace(told, folder=folder)
    ours(made.path)
    return made


@cache
def _told() -> Story:
    folder = tempfile.mkdtemp(prefix="story-")
    atexit.register(shutil.rmtree, folder, True)
    return tell(Path(folder) / "billing-api")
