"""What facts and decisions are bound to: bound, taken away, looked at again."""

import json
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from store.base.citations import cite, parse_citation
from store.base.errors import Conflict, InvalidInput, NotFound
from store.base.location import checkout_root
from store.base.models import select_fields
from store.base.runtime import read_file_stamp
from store.base.vocabulary import EVIDENCE_STATES, PERSON_ORIGIN, pack_key, unpack_key
from store.database.database import Database, Transaction
from store.database.values import Json, Verbatim, clean_text
from store.evidence.items import (
    COMMIT_ITEM,
    FILE_ITEM,
    GONE,
    HOLDS,
    MOVED,
    RUN_TYPES,
    SYMBOL_ITEM,
    EvidenceItem,
    EvidenceLook,
    ProjectSources,
    allow_run,
    bind_item,
    is_plain_path,
    is_run_allowed,
    look_at_items,
    parse_item,
    parse_typed_item,
    run_item,
)
from store.git.repository import refs_fingerprint

EVIDENCE_TABLES = {"fact": "facts", "decision": "decisions"}
MOST_ITEMS = 50  # of one record
LOOK_ACTOR = "agent"
REPOSITORY_KEY = (
    # in `meta`: the checkout of a memory that is in none (store/upkeep/maintenance.py)
    "git.repository"
)
# texts among which the items are: most evidence is citations of turns
_BOUND = "(evidence LIKE '% ~%' OR evidence LIKE '%\"C#%' OR evidence LIKE '%\"http%' OR evidence LIKE '%\"$ %')"


class BoundEvidence(NamedTuple):
    """An item of a record's evidence, by the record's citation: `state` in a word, empty before it was looked at;
    `place` where it is now, if elsewhere; `at` when it was looked at; `says` what a run gave."""

    citation: str
    item: EvidenceItem
    state: str
    place: str = ""
    at: str = ""
    says: str = ""

    def as_dict(self) -> dict[str, object]:
        what = {"citation": self.citation, "type": self.item.type, "target": self.item.typed_form}
        return {**what, **select_fields(self, "state", "place", "at", "says")}


class Evidence:
    """The evidence of one memory's facts and decisions. `project` is the folder below which its files are."""

    def __init__(self, database: Database, project: str | None) -> None:
        self._database = database
        self._project = project

    @property
    def root(self) -> str:
        """The folder that paths begin at. Raise InvalidInput for a memory without a project."""
        found = self._project or self._database.get_meta(REPOSITORY_KEY)
        if not found or not os.path.isdir(found):
            raise InvalidInput("This memory is of no project: it has no files.", "Bind to an address, https://…")
        return os.path.abspath(found)

    def bind(
        self, kind: str, number: int, texts: Sequence[str], cwd: str, *, actor: str = PERSON_ORIGIN
    ) -> list[BoundEvidence]:
        """Bind a fact or a decision to what these texts name, as it is now; paths are below `cwd` or absolute. One that
        it is bound to already is taken as it is now. Return all that it is bound to. Raise NotFound, InvalidInput,
        Conflict."""
        items = [self._item_below(parse_typed_item(text), cwd) for text in texts]
        return self._replace_items(kind, number, self._bind_now(items), actor)

    def bind_again(self, kind: str, number: int, *, actor: str = PERSON_ORIGIN) -> list[BoundEvidence]:
        """Take all that a record is bound to as it is now: what moved at its new place, what changed as it reads now.
        Raise NotFound, InvalidInput, and Conflict for what is gone."""
        had = [one.item for one in self.list_bound(kind, number)]
        if not had:
            raise InvalidInput(
                f"{cite(kind, number)} is bound to nothing.", f"Name what: bind {number} src/pay.py:10-20"
            )
        seen = self._look_at_items(had)
        if gone := [item.typed_form for item in had if item in seen and seen[item].state == GONE]:
            raise Conflict(
                f"{', '.join(gone)} is gone.",
                "Take it away with `memoranda bind --off`, or forget what it says.",
            )
        items = []
        for item in had:
            place = seen[item].place if item in seen else ""
            follow = place and (item.type != SYMBOL_ITEM or "::" in place)
            items.append(parse_typed_item(place) if follow else item)
        return self._replace_items(kind, number, self._bind_now(items), actor, instead=True)

    def unbind(
        self, kind: str, number: int, texts: Sequence[str], cwd: str, *, actor: str = PERSON_ORIGIN
    ) -> list[BoundEvidence]:
        """Take evidence away that a record is bound to; all of it without texts. A command or an address is asked about
        again before it is ever run. Return what is left. Raise NotFound, InvalidInput."""
        had = [one.item for one in self.list_bound(kind, number)]
        gone = [] if texts else had
        for text in texts:
            names = {text, self._item_below(parse_typed_item(text), cwd).typed_form}
            if not (found := [item for item in had if item.typed_form in names]):
                raise InvalidInput(
                    f"{cite(kind, number)} is not bound to {text}.",
                    "`memoranda bind --check` lists what it is bound to.",
                )
            gone += found
        if not gone:
            raise InvalidInput(f"{cite(kind, number)} is bound to nothing.", "`memoranda bind` binds it.")
        dropped = {str(item) for item in gone}
        with self._database.write(actor, f"unbind {cite(kind, number)}") as write:
            _, texts_now = self._read_evidence(kind, number)
            self._write_evidence(write, kind, number, [one for one in texts_now if one not in dropped])
        for item in gone:
            if item.type in RUN_TYPES:
                allow_run(self._run_folder(), item, allowed=False)
        return self.list_bound(kind, number)

    def list_bound(self, kind: str, number: int) -> list[BoundEvidence]:
        """Return what a record is bound to, in order. Raise NotFound."""
        _, texts = self._read_evidence(kind, number)
        return self._read_states([(pack_key(kind, number), texts)])

    def _read_evidence(self, kind: str, number: int) -> tuple[str, list[str]]:
        """Return the status of a record and the texts of its evidence. Raise NotFound."""
        sql = f"SELECT status, evidence FROM {EVIDENCE_TABLES[kind]} WHERE id = ?"
        if (found := self._database.row(sql, (number,))) is None:
            raise NotFound(f"There is no {kind} {cite(kind, number)}.", "Find it with `memoranda search`.")
        return found[0], _parse_texts(found[1])

    def list_all_bound(self) -> list[BoundEvidence]:
        """Return what active facts and decisions are bound to."""
        rows: list[tuple[int, list[str]]] = []
        for kind, table in EVIDENCE_TABLES.items():
            found = self._database.rows(
                f"SELECT id, evidence FROM {table} WHERE status = 'active' AND {_BOUND} ORDER BY id"
            )
            rows += [(pack_key(kind, number), _parse_texts(text)) for number, text in found]
        return self._read_states(rows)

    def stamp(self, bound: Sequence[BoundEvidence] | None = None) -> tuple[object, ...]:
        """Return what differs when a look may see something else: in what is bound (all of it, unless named), in its
        files and in git. Cheap: no file is read and no process is started."""
        bound = self.list_all_bound() if bound is None else bound
        if not bound or not self._project:
            return ()
        paths = sorted({one.item.target for one in bound if one.item.type in (FILE_ITEM, SYMBOL_ITEM)})
        top = checkout_root(self._project)
        return (
            refs_fingerprint(top) if top else "",
            tuple(read_file_stamp(os.path.join(self._project, path)) for path in paths),
            tuple((one.citation, str(one.item), one.state) for one in bound),
        )

    def verify(self, wanted: Iterable[BoundEvidence] | None = None) -> list[BoundEvidence]:
        """Look again at files, symbols and commits, of all that is bound or of the `wanted`; keep and return what was
        seen. Nothing is run. In a memory that cannot be written it is only returned."""
        before = self.list_all_bound() if wanted is None else list(wanted)
        try:
            seen = self._look_at_items([one.item for one in before])
        except InvalidInput:
            return before
        now = self._database.clock()
        after = [
            BoundEvidence(one.citation, one.item, found.state, found.place, now)
            if (found := seen.get(one.item))
            else one
            for one in before
        ]
        changed = [
            new for one, new in zip(before, after, strict=True) if (new.state, new.place) != (one.state, one.place)
        ]
        if changed and not self._database.read_only:
            with self._database.write(LOOK_ACTOR, "verify") as write:
                for one in changed:
                    _write_look(write, one)
        return after

    def list_runnable(self, wanted: Iterable[BoundEvidence]) -> list[tuple[BoundEvidence, bool]]:
        """Return the commands and addresses among these, each with whether a person allowed it here."""
        asking = [one for one in wanted if one.item.type in RUN_TYPES]
        root = self._run_folder() if asking else ""
        return [(one, is_run_allowed(root, one.item)) for one in asking]

    def allow(self, one: BoundEvidence) -> bool:
        """Allow a command or an address from now on; return whether that is stored."""
        return allow_run(self._run_folder(), one.item)

    def run_item(self, one: BoundEvidence) -> BoundEvidence:
        """Run a command or ask an address that is allowed; keep and return what was seen. Raise Conflict for one that
        is not."""
        root = self._run_folder()
        if not is_run_allowed(root, one.item):
            raise Conflict(
                f"{one.item.typed_form} was not allowed here.",
                "Allow it by hand: `memoranda bind --check --run`.",
            )
        before = self._database.value(
            "SELECT digest FROM evidence_looks WHERE record = ? AND item = ?",
            (_record_key(one.citation), str(one.item)),
        )
        ran = run_item(root, one.item, before or "")
        fresh = one._replace(state=ran.state, place=ran.place, at=self._database.clock(), says=ran.says)
        if not self._database.read_only:
            with self._database.write(LOOK_ACTOR, "verify") as write:
                _write_look(write, fresh, ran.digest)
        return fresh

    def _run_folder(self) -> str:
        """Return the folder in which commands are run."""
        try:
            return self.root
        except InvalidInput:
            return os.path.dirname(self._database.path)

    def _item_below(self, item: EvidenceItem, cwd: str) -> EvidenceItem:
        """Return an item with its path as one below the project. Raise InvalidInput."""
        if item.type not in (FILE_ITEM, SYMBOL_ITEM):
            return item
        root = self.root
        full = os.path.normpath(os.path.join(cwd, os.path.expanduser(item.target)))
        path = os.path.relpath(full, root).replace(os.sep, "/")
        if not is_plain_path(path):
            raise InvalidInput(
                f"{item.target} is no file below {root}.", "Evidence is a file of the project itself."
            )
        return item._replace(target=path)

    def _read_states(self, rows: Iterable[tuple[int, list[str]]]) -> list[BoundEvidence]:
        """Return the items of records with the states that were seen last."""
        sql = "SELECT item, state, place, at FROM evidence_looks WHERE record = ?"
        found = []
        for key, texts in rows:
            looks = {item: look for item, *look in self._database.rows(sql, (key,))}
            for item in filter(None, map(parse_item, texts)):
                state, place, at = looks.get(str(item), (0, "", ""))
                found.append(BoundEvidence(cite(*unpack_key(key)), item, EVIDENCE_STATES[state], place, at))
        return found

    def _look_at_items(self, items: Iterable[EvidenceItem]) -> dict[EvidenceItem, EvidenceLook]:
        """Look at each item that needs no permission. Raise InvalidInput where that needs a project."""
        if not (wanted := [item for item in items if item.type not in RUN_TYPES]):
            return {}
        return {
            item: self._find_rewritten(item) if found.state == GONE and item.type == COMMIT_ITEM else found
            for item, found in look_at_items(wanted, ProjectSources(self.root)).items()
        }

    def _bind_now(self, items: Iterable[EvidenceItem]) -> list[EvidenceItem]:
        """Return items as they are now. Raise InvalidInput for one that cannot be bound."""
        sources: ProjectSources | None = None
        bound = []
        for item in items:
            found: EvidenceItem | str = item
            if item.type not in RUN_TYPES:
                sources = sources or ProjectSources(self.root)
                found = bind_item(item, sources)
            if isinstance(found, str):
                raise InvalidInput(
                    f"{item.typed_form}: {found}.",
                    "Name what is there now: src/pay.py:10-20, src/pay.py::total, C#a1b2c3d.",
                )
            bound.append(found)
        return bound

    def _find_rewritten(self, item: EvidenceItem) -> EvidenceLook:
        """Return where a commit is now that no branch leads to: one with the same message, author and size."""
        sha = self._database.value(
            "SELECT n.sha FROM commits o JOIN commits n ON n.message = o.message AND n.author = o.author"
            " AND n.insertions = o.insertions AND n.deletions = o.deletions AND n.reachable AND n.id <> o.id"
            " WHERE o.sha >= ?1 AND o.sha < ?1 || 'g' ORDER BY n.committed_at DESC LIMIT 1",
            (item.target,),
        )
        return EvidenceLook(MOVED, f"C#{sha}") if sha else EvidenceLook(GONE)

    def _replace_items(
        self, kind: str, number: int, items: list[EvidenceItem], actor: str, instead: bool = False
    ) -> list[BoundEvidence]:
        """Bind a record to these items, besides or `instead` of what it is bound to. Raise NotFound, InvalidInput
        or Conflict."""
        for item in items:
            if clean_text(str(item)) != str(item):
                raise InvalidInput(
                    f"{item.type.capitalize()} evidence with a secret in it is not kept.", "Name it without."
                )
        places = {item.identity for item in items}
        with self._database.write(actor, f"bind {cite(kind, number)}") as write:
            status, texts = self._read_evidence(kind, number)
            if status != "active":
                raise Conflict(f"{cite(kind, number)} is {status}.", "Undo that first.")
            left = [
                one for one in texts if (was := parse_item(one)) is None or not (instead or was.identity in places)
            ]
            fresh = list(dict.fromkeys([*left, *map(str, items)]))
            if len(fresh) - len(left) > MOST_ITEMS or len(fresh) > 4 * MOST_ITEMS:
                raise InvalidInput(
                    f"A record is bound to at most {MOST_ITEMS} things.", "Say it in several facts."
                )
            if fresh != texts:
                self._write_evidence(write, kind, number, fresh)
            for item in items:
                # what it gives the next time is what it gives
                if item.type in RUN_TYPES:
                    row = (pack_key(kind, number), str(item))
                    write.execute("DELETE FROM evidence_looks WHERE record = ? AND item = ?", row)
                else:
                    _write_look(write, BoundEvidence(cite(kind, number), item, HOLDS, "", write.at))
        return self.list_bound(kind, number)

    def _write_evidence(self, write: Transaction, kind: str, number: int, texts: list[str]) -> None:
        """Write the evidence of a record."""
        write.execute(f"UPDATE {EVIDENCE_TABLES[kind]} SET evidence = ? WHERE id = ?", (Json(texts), number))


def _parse_texts(evidence: str | None) -> list[str]:
    """Return the texts of a record's evidence."""
    return [one for one in json.loads(evidence or "[]") if isinstance(one, str)]


def _write_look(write: Transaction, one: BoundEvidence, digest: str = "") -> None:
    """Record what was seen of an item."""
    write.execute(
        "INSERT OR REPLACE INTO evidence_looks(record, item, state, place, digest, at) VALUES (?, ?, ?, ?, ?, ?)",
        (
            _record_key(one.citation),
            str(one.item),
            EVIDENCE_STATES.index(one.state),
            one.place,
            Verbatim(digest),
            Verbatim(one.at or write.at),
        ),
    )


def _record_key(citation: str) -> int:
    found = parse_citation(citation)
    return pack_key(found.kind, int(found.target))
