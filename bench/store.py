"""What the benches share: the installed package, a large memory, and the format of their tables.

The installed package is measured: `installed` creates a virtual environment of the tree, once, compiled as pip leaves
it. `memory` builds a large memory once. Both are cached in a private folder of the temporary directory (`CACHE`), by
their sources."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import accumulate, islice
from typing import NamedTuple

import apsw

from store.base.clock import DAY_MS, from_ms
from store.base.state_files import delete_known_memory, find_known_memory
from store.database.database import Database
from store.database.schema import SCHEMA_FILE, SCHEMA_VERSION
from store.memory import Memory
from store.records.facts import text_hash
from store.trust.ownership import read_identity, register_ownership

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CACHE = os.path.join(tempfile.gettempdir(), f"memoranda-bench-{os.getuid()}")
CLEAN = {
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPATH": "",
    "MEMORANDA_DB": "",
    "XDG_CONFIG_HOME": os.path.join(CACHE, "no-configuration"),
}
# without embedding, whose progress output would be taken for the last byte of a key
ALONE = {**CLEAN, "MEMORANDA_WITHOUT": "model"}
"""The environment of a measured process: none of our variables, and nobody's settings. An empty variable counts as
unset."""


# tables


def heading(name: str, about: str = "") -> None:
    """Return the line above a bench's table: it names the machine, because figures of different runs are not
    comparable."""
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    version = sys.version.split()[0]
    print(
        f"{name}: Python {version}, {os.cpu_count()} CPUs, load {load}{', ' if about else ''}{about}", flush=True
    )


def verdict(value: float, aim: float | None, unit: str = "") -> str:
    """Return `≤ 4 ms  ok`, `≤ 4 ms  MISS`, or nothing without an aim."""
    return "" if aim is None else f"≤ {aim:g}{unit}  {'ok' if value <= aim else 'MISS'}"


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def pairs(values: Sequence[float], floor: Sequence[float]) -> float:
    """Return the median ratio of runs made side by side, under the same load."""
    return statistics.median(value / under for value, under in zip(values, floor, strict=True))


# installed package


class Installed(NamedTuple):
    """A virtual environment with Memoranda, compiled."""

    python: str
    memoranda: str


def installed() -> Installed:
    """Return this tree installed; reinstalled when its sources change. Takes 20 seconds the first time."""
    digest = hashlib.sha256(sys.version.encode())
    for path in _sources():
        with open(path, "rb") as source:
            digest.update(path.encode() + source.read())
    folder = os.path.join(CACHE, f"venv-{digest.hexdigest()[:16]}")
    programs = Installed(os.path.join(folder, "bin", "python"), os.path.join(folder, "bin", "memoranda"))
    with locked():
        if not os.path.exists(os.path.join(folder, "complete")):
            _discard("venv-", older_than_days=1)
            shutil.rmtree(folder, ignore_errors=True)
            base = getattr(sys, "_base_executable", sys.executable)
            subprocess.run([base, "-m", "venv", folder], check=True)
            install = [programs.python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", ROOT]
            subprocess.run(install, check=True, cwd=CACHE)
            with open(os.path.join(folder, "complete"), "x"):
                pass
    return programs


def environment() -> dict[str, str]:
    """Return the environment of a measured process."""
    return {**os.environ, **CLEAN}


def _sources() -> list[str]:
    found = [os.path.join(ROOT, "pyproject.toml")]
    for package in ("store", "tui"):
        for folder, _, names in os.walk(os.path.join(ROOT, package)):
            found += [os.path.join(folder, name) for name in names if name.endswith((".py", ".sql"))]
    return sorted(found)


@contextmanager
def locked() -> Iterator[None]:
    """Allow one process at a time to build in CACHE."""
    os.makedirs(CACHE, mode=0o700, exist_ok=True)
    with open(os.path.join(CACHE, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _discard(prefix: str, older_than_days: float) -> None:
    """Remove what was built from sources that no longer exist."""
    for name in os.listdir(CACHE):
        path = os.path.join(CACHE, name)
        if name.startswith(prefix) and os.stat(path).st_mtime < time.time() - older_than_days * 86_400:
            shutil.rmtree(path, ignore_errors=True)


# large memory

BATCH = 10_000
SHARES = {"commits": 0.6, "events": 0.25, "decisions": 0.15}  # of the timeline
YEARS_DAYS = 730
EVENT_DAYS = 320  # younger than the retention, or the first start would delete them

# stop words come first in the order of frequency, as in any text
STOP_WORDS = {
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ya".split(),
    "en": "the to of and a in is that it for on with as was be by this not are from at or an have but".split(),
}
_STEMS = {
    "es": """
    despleg configur migr valid optimiz document prob corrig elimin agreg actualiz integr proces cach index registr
    guard carg descarg envi recib consult filtr orden agrup compar calcul revis aprob rechaz planific estim prioriz
    ejecut cancel reintent bloque liber conect autentic autoriz cifr firm public suscrib notific program respald
    restaur compil empaquet instal monitor alert report factur pag cobr client producto pedido inventari usuari equip
    reunion proyect tare decision memori agent modelo consult respuest pregunt context fuent cit resum etiquet ambient
    servidor servici red puert proxy token clave sesion cuent permis rol grup tabl column fila indic consult vist
    pantall botón menú teclad ratón ventan panel lista arbol nod rama fusion parche version lanzamient etap entreg
    puebl ciudad famili herman prefer trabaj madrug cafe desayun viaj tren avion hotel receta deport libro musica
    corre salud medic escuel universidad curs examen idiom traduccion palabr frase texto linea parraf capítul
    """.split(),
    "en": """
    deploy config migrat validat optimiz document test correct remov add updat integrat process cach index regist
    stor load download send receiv quer filter order group compar comput review approv reject plan estimat prioritiz
    execut cancel retr block releas connect authenticat authoriz encrypt sign publish subscrib notif schedul backup
    restor compil packag install monitor alert report bill pay charg client product purchas inventor user team
    meet project task decision memor agent model prompt answ question context sourc citat summar label environ
    server servic network port prox token key session account permission role polic tabl column row ind view
    screen button menu keyboard mous window panel list tree nod branch merg patch version launch stag deliver
    town city famil brother prefer work commut coffee breakfast travel train flight hotel recip sport book music
    mail health medic school universit course exam languag translat word phras text lin paragraph chapter
    """.split(),
}
_ENDINGS = {
    "es": "ar ado ación ando amos aciones ador e a os ará aba able amiento".split(),
    "en": "e ed ing es er ion ions able ment ly s ability ers".split(),
}
_NAMES = """
redis kafka postgres sqlite nginx docker kubernetes terraform grafana pytest textual asyncio webpack typescript rust
Lucía Íñigo Begoña Grace Tom Ada Marta Diego staging production sandbox frontend backend gateway scheduler webhook
""".split()


class Writer:
    """Generates the same Spanish and English texts each time, with word frequencies as in real texts (Zipf)."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.words: dict[str, list[str]] = {}
        self._weights: dict[str, list[float]] = {}
        shuffled = random.Random(1)  # the vocabulary does not depend on the seed
        for language, stems in _STEMS.items():
            content = [stem + ending for stem in dict.fromkeys(stems) for ending in _ENDINGS[language]]
            content += _NAMES + [f"{name}-{number}" for name in _NAMES for number in range(20)]
            shuffled.shuffle(content)
            self.words[language] = list(dict.fromkeys(STOP_WORDS[language] + content))
            self._weights[language] = list(
                accumulate(1 / (rank + 2.7) for rank in range(len(self.words[language])))
            )

    def sentence(self, least: int, most: int, language: str = "") -> str:
        """Return `least` to `most` words and a full stop."""
        chance = self.chance
        language = language or ("es" if chance.random() < 0.55 else "en")
        count = chance.randint(least, most)
        words = chance.choices(self.words[language], cum_weights=self._weights[language], k=count)
        if chance.random() < 0.2:
            words[chance.randrange(count)] = str(chance.randrange(2000))
        text = " ".join(words)
        return f"{text[:1].upper()}{text[1:]}."

    def paragraph(self, sentences: int, language: str) -> str:
        return " ".join(self.sentence(6, 16, language) for _ in range(sentences))


def shape(*sources: str) -> str:
    """Return a key that distinguishes memories built of other sources, or in another schema of the same number."""
    digest = hashlib.sha256(str(SCHEMA_VERSION).encode())
    for path in (*sources, SCHEMA_FILE):
        with open(path, "rb") as source:
            digest.update(source.read())
    return digest.hexdigest()[:16]


def memory(facts: int, entries: int) -> str:
    """Return the path of a cached memory with so many facts and timeline entries. Do not write to it: take a `copy`.

    It is rebuilt each month, because ages matter: its facts were confirmed and its decisions made over two years. Its
    rows passed the schema's triggers, as all do; they have no history, which no list or search reads."""
    digest = hashlib.sha256(f"{shape(__file__)} {datetime.now(UTC):%Y-%m}".encode())
    folder = os.path.join(CACHE, f"memory-{facts}-{entries}-{digest.hexdigest()[:16]}")
    path = os.path.join(folder, "memory.db")
    with locked():
        if not os.path.exists(path):
            _discard("memory-", older_than_days=7)
            print(f"building a memory of {facts:,} facts and {entries:,} entries …", file=sys.stderr, flush=True)
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder, mode=0o700)
            _build(os.path.join(folder, "building.db"), facts, entries)
            os.rename(os.path.join(folder, "building.db"), path)
        return own(path)


def own(path: str) -> str:
    """Register a memory that was created without the doors, or copied, as this installation's own, also in the place of
    another that was there before; return its path."""
    connection = apsw.Connection(path)
    before = find_known_memory(path)
    if before is None or before.identity != read_identity(connection):
        register_ownership(connection, path, os.urandom(16).hex())
    connection.close()
    return path


def copy(source: str, target: str) -> str:
    """Copy a memory, to write to; return its path."""
    with (
        Memory.open(target) as new,
        Memory.open(source) as old,
        new.database.connection.backup("main", old.database.connection, "main") as backup,
    ):
        while not backup.done:
            backup.step(10_000)
    delete_known_memory(target)  # it has the other's identity
    return own(target)


def _build(path: str, facts: int, entries: int) -> None:
    writer = Writer(facts + entries)
    now = time.time_ns() // 1_000_000
    database = Database(path, "cli")
    connection = database.connection
    connection.pragma("synchronous", 0)
    connection.pragma("wal_autocheckpoint", 20_000)
    connection.pragma("foreign_keys", 0)
    try:
        _fill(connection, "facts", _FACT, _facts(writer, now, facts))
        counts = {table: round(entries * share) for table, share in SHARES.items()}
        counts["commits"] += entries - sum(counts.values())
        _fill(connection, "decisions", _DECISION, _decisions(writer, now, counts["decisions"]))
        _fill(connection, "commits", _COMMIT, _commits(writer, now, counts["commits"]))
        _fill(connection, "events", _EVENT, _events(writer, now, counts["events"]))
        if counts["decisions"] > 10:
            linked = range(1, counts["commits"] + 1, 12)
            links = ((n, writer.chance.randint(1, counts["decisions"]), "implements", "agent") for n in linked)
            _fill(connection, "commit_links", "commit_id, decision_id, link_type, origin", links)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        assert not broken, broken[:3]
    finally:
        database.close()


def _fill(connection: apsw.Connection, table: str, columns: str, rows: Iterator[tuple[object, ...]]) -> None:
    """Insert rows through the triggers, in large transactions."""
    sql = f"INSERT INTO {table}({columns}) VALUES ({', '.join('?' * (columns.count(',') + 1))})"
    while batch := list(islice(rows, BATCH)):
        with connection:
            connection.executemany(sql, batch)


_FACT = (
    "domain, fact, text_hash, confidence, source, scope, status, supersedes, created_at, last_confirmed_at, importance,"
    " pinned, origin, tags"
)
_DECISION = (
    "title, context, chosen, alternatives, rationale, impact, phase, decided_at, status, supersedes, origin"
)
_COMMIT = "sha, message, author, files_changed, insertions, deletions, committed_at"
_EVENT = "event_type, phase, payload, created_at, origin"


def _facts(writer: Writer, now: int, count: int) -> Iterator[tuple[object, ...]]:
    chance = writer.chance
    domains = ("work", "preferences", "decisions", "personal", "projects", "general", "self_correction")
    for number in range(1, count + 1):
        text = writer.sentence(6, 24)
        age = min(YEARS_DAYS, chance.expovariate(1 / 90)) * DAY_MS
        confirmed = age * chance.random() ** 0.5
        gone = chance.random()
        status = "forgotten" if gone < 0.03 else "superseded" if gone < 0.06 else "active"
        yield (
            chance.choices(domains, (30, 10, 15, 8, 20, 14, 3))[0],
            text,
            text_hash(text),
            chance.choices(("high", "medium", "low"), (60, 30, 10))[0],
            chance.choice(("explicit", "inferred")),
            "project",
            status,
            number - 1 if number > 1 and gone > 0.94 else None,
            from_ms(int(now - age)),
            from_ms(int(now - confirmed)),
            round(chance.random(), 2),
            int(chance.random() < 0.01),
            chance.choice(("user", "agent", "import:chat")),
            json.dumps([chance.choice(_NAMES)], ensure_ascii=False) if chance.random() < 0.2 else "[]",
        )


def _decisions(writer: Writer, now: int, count: int) -> Iterator[tuple[object, ...]]:
    chance = writer.chance
    for number in range(1, count + 1):
        language = "es" if chance.random() < 0.55 else "en"
        gone = chance.random()
        yield (
            writer.sentence(4, 9, language).rstrip("."),
            writer.paragraph(chance.randint(1, 3), language),
            writer.sentence(6, 14, language),
            json.dumps([writer.sentence(2, 6, language) for _ in range(chance.randint(0, 3))], ensure_ascii=False),
            writer.paragraph(chance.randint(1, 4), language),
            chance.choice(("low", "medium", "high", "critical")),
            chance.choice(("", "design", "build", "review")),
            _spread(now, number, count, YEARS_DAYS),
            "superseded" if gone < 0.05 else "active",
            number - 1 if number > 1 and gone > 0.95 else None,
            chance.choice(("user", "agent")),
        )


def _commits(writer: Writer, now: int, count: int) -> Iterator[tuple[object, ...]]:
    chance = writer.chance
    for number in range(1, count + 1):
        kind, scope = (
            chance.choice(("feat", "fix", "docs", "test", "refactor", "chore")),
            chance.choice(_NAMES).lower(),
        )
        language = "es" if chance.random() < 0.4 else "en"
        message = f"{kind}({scope}): {writer.sentence(4, 9, language).rstrip('.').lower()}"
        if chance.random() < 0.3:
            message += "\n\n" + writer.paragraph(chance.randint(1, 4), language)
        sizes = chance.randint(1, 12), chance.randint(1, 400), chance.randint(0, 200)
        author = chance.choice(("Lucía Fernández", "Íñigo Muñoz", "Begoña Peña", "Grace Hopkins", "Tom O'Neill"))
        yield f"{chance.getrandbits(160):040x}", message, author, *sizes, _spread(now, number, count, YEARS_DAYS)


def _events(writer: Writer, now: int, count: int) -> Iterator[tuple[object, ...]]:
    chance = writer.chance
    kinds = ("phase_completed", "gate_passed", "gate_failed", "agent_started", "tool_used", "tests_run")
    for number in range(1, count + 1):
        payload = {"agent": chance.choice(_NAMES), "seconds": chance.randrange(900), "note": writer.sentence(3, 9)}
        phase = chance.choice(("design", "build", "review", "release"))
        text = json.dumps(payload, ensure_ascii=False)
        yield chance.choice(kinds), phase, text, _spread(now, number, count, EVENT_DAYS), "agent"


def _spread(now: int, number: int, count: int, days: int) -> str:
    """Return the time of the `number`th of `count` things spread evenly over `days`."""
    return from_ms(now - (count - number) * days * DAY_MS // count)
