"""What facts and decisions are bound to: bound, taken away, looked at again."""

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from store.base.citations import cite
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.file_stamp import NO_FILE, stamp_of
from store.base.location import checkout_root
from store.base.record_keys import pack, unpack
from store.base.vocabulary import EVIDENCE_STATES as STATES
from store.base.vocabulary import PERSON
from store.database.database import Database, Transaction
from store.database.values import Json, Verbatim, clean
from store.evidence import running
from store.evidence.items import (
    COMMIT,
    FILE,
    GONE,
    HOLDS,
    MOVED,
    RUN,
    SYMBOL,
    UNSEEN,
    EvidenceItem,
    asked,
    plain,
    read,
)
from store.evidence.looking import EvidenceLook, bound, look
from store.evidence.project import ProjectSources
from store.git import refs

TABLES = {"fact": "facts", "decision": "decisions"}
MOST_ITEMS = 50  # of one record
LOOKER = "agent"
REPOSITORY = "git.repository"  # in `meta`: the checkout of a memory that is in none (store/services/maintenance.py)
# texts among which the items are: most evidence is citations of turns
_BOUND = "(evidence LIKE '% ~%' OR evidence LIKE '%\"C#%' OR evidence LIKE '%\"http%' OR evidence LIKE '%\"$ %')"


@dataclass(frozen=True, slots=True)
class BoundEvidence:
    """An item of a record's evidence, by the record's citation: `state` in a word, empty before it was looked at;
    `place` where it is now, if elsewhere; `at` when it was looked at; `says` what a run gave."""

    citation: str
    item: EvidenceItem
    state: str
    place: str = ""
    at: str = ""
    says: str = ""

    def as_dict(self) -> dict[str, str]:
        found = {"citation": self.citation, "type": self.item.type, "target": self.item.shown, "state": self.state}
        return {**found, "place": self.place, "at": self.at, "says": self.says}


class Evidence:
    """The evidence of one memory's facts and decisions. `project` is the folder below which its files are."""

    def __init__(self, database: Database, project: str | None) -> None:
        self._database = database
        self._project = project

    @property
    def root(self) -> str:
        """The folder that paths begin at. Raise InvalidInput for a memory without a project."""
        found = self._project or self._database.value("SELECT value FROM meta WHERE key = ?", (REPOSITORY,))
        if not found or not os.path.isdir(found):
            raise InvalidInput("This memory is of no project: it has no files.", "Bind to an address, https://…")
        return os.path.abspath(found)

    def bind(
        self, kind: str, number: int, texts: Sequence[str], cwd: str, *, actor: str = PERSON
    ) -> list[BoundEvidence]:
        """Bind a fact or a decision to what these texts name, as it is now; paths are below `cwd` or absolute. One that
        it is bound to already is taken as it is now. Return all that it is bound to. Raise NotFound, InvalidInput,
        Conflict."""
        sources: ProjectSources | None = None
        items = []
        for text in texts:
            item = asked(text)
            if item.type not in RUN:
                sources = sources or ProjectSources(self.root)
                item = _now(self._below(item, cwd), sources)
            items.append(item)
        return self._replace(kind, number, items, actor)

    def bind_again(self, kind: str, number: int, *, actor: str = PERSON) -> list[BoundEvidence]:
        """Take all that a record is bound to as it is now: what moved at its new place, what changed as it reads now.
        Raise NotFound, InvalidInput, and Conflict for what is gone."""
        had = self.of(kind, number)
        if not had:
            raise InvalidInput(
                f"{cite(kind, number)} is bound to nothing.", f"Name what: bind {number} src/pay.py:10-20"
            )
        items = [one.item for one in had if one.item.type in RUN]
        gone = []
        if len(items) < len(had):
            sources = ProjectSources(self.root)
            for item, found in self._look([one.item for one in had], sources).items():
                follow = found.place and (item.type != SYMBOL or "::" in found.place)
                if found.state == GONE:
                    gone.append(item.shown)
                else:
                    items.append(_now(asked(found.place) if follow else item, sources))
        if gone:
            raise Conflict(
                f"{', '.join(gone)} is gone.", "Take it away with `memoranda unbind`, or forget what it says."
            )
        return self._replace(kind, number, items, actor, instead=True)

    def unbind(
        self, kind: str, number: int, texts: Sequence[str], cwd: str, *, actor: str = PERSON
    ) -> list[BoundEvidence]:
        """Take evidence away that a record is bound to; all of it without texts. A command or an address is asked about
        again before it is ever run. Return what is left. Raise NotFound, InvalidInput."""
        had = self.of(kind, number)
        gone = [] if texts else [one.item for one in had]
        for text in texts:
            item = asked(text)
            names = {text, (item if item.type in (COMMIT, *RUN) else self._below(item, cwd)).shown}
            found = [one.item for one in had if one.item.shown in names]
            if not found:
                raise InvalidInput(
                    f"{cite(kind, number)} is not bound to {text}.", "`memoranda verify` lists what it is bound to."
                )
            gone += found
        if not gone:
            raise InvalidInput(f"{cite(kind, number)} is bound to nothing.", "`memoranda bind` binds it.")
        dropped = {str(item) for item in gone}
        with self._database.write(actor, f"unbind {cite(kind, number)}") as write:
            texts_now = _evidence(write, kind, number)
            self._put(write, kind, number, [one for one in texts_now if one not in dropped])
        for item in gone:
            if item.type in RUN:
                running.disallow(self._place_of_runs(), item)
        return self.of(kind, number)

    def of(self, kind: str, number: int) -> list[BoundEvidence]:
        """Return what a record is bound to, in order. Raise NotFound."""
        text = self._database.value(f"SELECT evidence FROM {TABLES[kind]} WHERE id = ?", (number,))
        if text is None and not self._database.value(f"SELECT 1 FROM {TABLES[kind]} WHERE id = ?", (number,)):
            raise NotFound(f"There is no {kind} {cite(kind, number)}.", "Find it with `memoranda search`.")
        return self._seen([(pack(kind, number), text or "[]")])

    def all(self) -> list[BoundEvidence]:
        """Return what active facts and decisions are bound to."""
        rows: list[tuple[int, str]] = []
        for kind, table in TABLES.items():
            found = self._database.rows(
                f"SELECT id, evidence FROM {table} WHERE status = 'active' AND {_BOUND} ORDER BY id"
            )
            rows += [(pack(kind, number), text) for number, text in found]
        return self._seen(rows)

    def stamp(self, bound: Sequence[BoundEvidence] | None = None) -> tuple[object, ...]:
        """Return what differs when a look may see something else: in what is bound, `all` unless given, in its files
        and in git. Cheap: no file is read and no process is started."""
        bound = self.all() if bound is None else bound
        if not bound or not self._project:
            return ()
        paths = sorted({one.item.target for one in bound if one.item.type in (FILE, SYMBOL)})
        stamps = []
        for path in paths:
            try:
                stamps.append(stamp_of(os.lstat(os.path.join(self._project, path))))
            except OSError:
                stamps.append(NO_FILE)
        top = checkout_root(self._project)
        return (
            refs.fingerprint(top) if top else "",
            tuple(stamps),
            tuple((one.citation, str(one.item), one.state) for one in bound),
        )

    def verify(self, wanted: Iterable[BoundEvidence] | None = None) -> list[BoundEvidence]:
        """Look again at files, symbols and commits, of all that is bound or of the `wanted`; keep and return what was
        seen. Nothing is run. In a memory that cannot be written it is only returned."""
        before = self.all() if wanted is None else list(wanted)
        if not before:
            return []
        try:
            sources = ProjectSources(self.root)
        except InvalidInput:
            return before
        seen = self._look([one.item for one in before], sources)
        now = self._database.clock()
        after, changed = [], []
        for one in before:
            found = seen.get(one.item)
            if found is None:
                after.append(one)
                continue
            fresh = BoundEvidence(one.citation, one.item, STATES[found.state], found.place, now)
            after.append(fresh)
            if (fresh.state, fresh.place) != (one.state, one.place):
                changed.append(fresh)
        if changed and not self._database.read_only:
            with self._database.write(LOOKER, "verify") as write:
                for one in changed:
                    _keep(write, one, "")
        return after

    def to_run(self, wanted: Iterable[BoundEvidence]) -> list[tuple[BoundEvidence, bool]]:
        """Return the commands and addresses among these, each with whether a person allowed it here."""
        asking = [one for one in wanted if one.item.type in RUN]
        root = self._place_of_runs() if asking else ""
        return [(one, running.allowed(root, one.item)) for one in asking]

    def allow(self, one: BoundEvidence) -> bool:
        """Allow a command or an address from now on; return whether that is stored."""
        return running.allow(self._place_of_runs(), one.item)

    def run(self, one: BoundEvidence) -> BoundEvidence:
        """Run a command or ask an address that is allowed; keep and return what was seen. Raise Conflict for one that
        is not."""
        root = self._place_of_runs()
        if not running.allowed(root, one.item):
            raise Conflict(f"{one.item.shown} was not allowed here.", "Allow it by hand: `memoranda verify --run`.")
        key = _key(one.citation)
        before = self._database.value(
            "SELECT digest FROM evidence_looks WHERE record = ? AND item = ?", (key, str(one.item))
        )
        ran = running.run(root, one.item, before or "")
        fresh = BoundEvidence(one.citation, one.item, STATES[ran.state], ran.place, self._database.clock(), ran.says)
        if not self._database.read_only:
            with self._database.write(LOOKER, "verify") as write:
                _keep(write, fresh, ran.digest)
        return fresh

    def _place_of_runs(self) -> str:
        try:
            return self.root
        except InvalidInput:
            return os.path.dirname(self._database.path)

    def _below(self, item: EvidenceItem, cwd: str) -> EvidenceItem:
        """Return an item with its path as one below the project. Raise InvalidInput."""
        if item.type not in (FILE, SYMBOL):
            return item
        root = self.root
        full = os.path.normpath(os.path.join(cwd, os.path.expanduser(item.target)))
        path = os.path.relpath(full, root).replace(os.sep, "/")
        if not plain(path):
            raise InvalidInput(f"{item.target} is no file below {root}.", "Evidence is a file of the project itself.")
        return EvidenceItem(item.type, path, item.symbol, item.first, item.last)

    def _seen(self, rows: Iterable[tuple[int, str]]) -> list[BoundEvidence]:
        found = []
        for key, text in rows:
            citation = cite(*unpack(key))
            items = [item for one in json.loads(text) if isinstance(one, str) and (item := read(one))]
            if not items:
                continue
            looks = {
                item: (state, place, at)
                for item, state, place, at in self._database.rows(
                    "SELECT item, state, place, at FROM evidence_looks WHERE record = ?", (key,)
                )
            }
            for item in items:
                state, place, at = looks.get(str(item), (UNSEEN, "", ""))
                found.append(BoundEvidence(citation, item, STATES[state], place, at))
        return found

    def _look(self, items: Iterable[EvidenceItem], sources: ProjectSources) -> dict[EvidenceItem, EvidenceLook]:
        """Look at each item that needs no permission."""
        return {
            item: self._rewritten(item) if found.state == GONE and item.type == COMMIT else found
            for item, found in look(items, sources).items()
        }

    def _rewritten(self, item: EvidenceItem) -> EvidenceLook:
        """Return where a commit is now that no branch leads to: one with the same message, author and size."""
        sha = self._database.value(
            "SELECT n.sha FROM commits o JOIN commits n ON n.message = o.message AND n.author = o.author"
            " AND n.insertions = o.insertions AND n.deletions = o.deletions AND n.reachable AND n.id <> o.id"
            " WHERE o.sha >= ?1 AND o.sha < ?1 || 'g' ORDER BY n.committed_at DESC LIMIT 1",
            (item.target,),
        )
        return EvidenceLook(MOVED, f"C#{sha}") if sha else EvidenceLook(GONE)

    def _replace(
        self, kind: str, number: int, items: list[EvidenceItem], actor: str, instead: bool = False
    ) -> list[BoundEvidence]:
        for item in items:
            if clean(str(item)) != str(item):
                raise InvalidInput(
                    f"{item.type.capitalize()} evidence with a secret in it is not kept.", "Name it without."
                )
        places = {item.place for item in items}
        with self._database.write(actor, f"bind {cite(kind, number)}") as write:
            status = write.execute(f"SELECT status FROM {TABLES[kind]} WHERE id = ?", (number,)).get
            if status is None:
                raise NotFound(f"There is no {kind} {cite(kind, number)}.", "Find it with `memoranda search`.")
            if status != "active":
                raise Conflict(f"{cite(kind, number)} is {status}.", "Undo that first.")
            texts = _evidence(write, kind, number)
            left = [one for one in texts if (was := read(one)) is None or not (instead or was.place in places)]
            fresh = list(dict.fromkeys([*left, *map(str, items)]))
            if len(fresh) - len(left) > MOST_ITEMS or len(fresh) > 4 * MOST_ITEMS:
                raise InvalidInput(f"A record is bound to at most {MOST_ITEMS} things.", "Say it in several facts.")
            if fresh != texts:
                self._put(write, kind, number, fresh)
            for item in items:
                if item.type in RUN:  # what it gives the next time is what it gives
                    write.execute(
                        "DELETE FROM evidence_looks WHERE record = ? AND item = ?", (pack(kind, number), str(item))
                    )
                else:
                    _keep(write, BoundEvidence(cite(kind, number), item, STATES[HOLDS], "", write.at), "")
        return self.of(kind, number)

    def _put(self, write: Transaction, kind: str, number: int, texts: list[str]) -> None:
        write.execute(f"UPDATE {TABLES[kind]} SET evidence = ? WHERE id = ?", (Json(texts), number))


def _evidence(write: Transaction, kind: str, number: int) -> list[str]:
    found = json.loads(write.execute(f"SELECT evidence FROM {TABLES[kind]} WHERE id = ?", (number,)).get or "[]")
    return [one for one in found if isinstance(one, str)]


def _now(item: EvidenceItem, sources: ProjectSources) -> EvidenceItem:
    found = bound(item, sources)
    if isinstance(found, str):
        raise InvalidInput(
            f"{item.shown}: {found}.", "Name what is there now: src/pay.py:10-20, src/pay.py::total, C#a1b2c3d."
        )
    return found


def _keep(write: Transaction, one: BoundEvidence, digest: str) -> None:
    write.execute(
        "INSERT INTO evidence_looks(record, item, state, place, digest, at) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(record, item) DO UPDATE SET state = excluded.state, place = excluded.place,"
        " digest = excluded.digest, at = excluded.at",
        (
            _key(one.citation),
            str(one.item),
            STATES.index(one.state),
            one.place,
            Verbatim(digest),
            Verbatim(one.at or write.at),
        ),
    )


def _key(citation: str) -> int:
    from store.base.citations import parse

    found = parse(citation)
    return pack(found.kind, int(found.target))
