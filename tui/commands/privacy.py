"""purge, secrets: erase for good, and prove it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from store.base.citations import parse_citation
from store.base.clock import format_local_time
from store.base.errors import ExitStatus, InvalidInput
from store.base.models import select_fields
from store.base.vocabulary import PURGEABLE_KINDS
from store.config.configuration import user_settings_path
from store.memory import Memory
from store.purge.purge import PurgePlan
from store.purge.secret_scan import PERSONAL_DATA_SCANNER, SECRET_SCANNER, scan_secrets, scrub_secrets
from store.purge.word_search import RemainingMatch
from store.records.table import count_redactions, list_redactions
from store.redaction.allowlist import add_allowance, list_allowances, remove_allowance
from store.redaction.rules import load_labels
from store.text.display import format_count, shorten, visible
from store.upkeep.erasing import PlanOfBoth, PurgeSelection, check_text, name_some, plan_in_both, run_purge
from tui.commands.call import Call, Ids, Outcome, parse_reference
from tui.commands.record_lines import more_line
from tui.input.arguments import Shown, verb


@verb(frees=True, looks=lambda given: given.check)
def purge(
    call: Call,
    ids: Ids = [],
    *,
    query: Annotated[str | None, Shown("Q")] = None,
    origin: Annotated[str | None, Shown("O")] = None,
    before: Annotated[str | None, Shown("TIME")] = None,
    kind: Annotated[str | None, Shown("K", PURGEABLE_KINDS)] = None,
    leave: Ids = [],
    scrub: Ids = [],
    check: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> Outcome:
    """Erase records with all old versions, which cannot be undone; or prove that a text is gone.

    ids: a fact's number, or G#5, D#3, A#5, T#9, E#42, P#8; or words, as with --query; of --check the text, or - for
        standard input, past the shell's history
    query: instead: all that a search by keywords finds
    origin: instead: all that this one wrote, import:notes
    before: instead: all that is older than 2026-08-01, 90d, v1.0, K#3 …
    kind: with --before: only fact, decision, task, turn, event, summary, proposal
    leave: leave the words as they are here: T#9, all, MEMORY.md, files (repeatable)
    scrub: cut them only here, and not in every other place (repeatable)
    check: instead: prove that no byte of a text is left in any file of the store
    dry_run: only show what would be erased, and what else holds the words
    """
    if check:
        if any((query, origin, before, kind, leave, scrub)):
            raise InvalidInput("--check looks for a text, and erases nothing.", "purge --check TEXT")
        found = check_text(call.memory, call.text(ids, "purge --check"))
        lines = [*map(visible, found.lines)]
        return Outcome(found.message, lambda: found.data, lines, status=found.status)
    memory = call.memory
    meant = select_purged(ids, query, origin, before, kind, yes)
    both = plan_in_both(memory, meant.records) if meant.records else None
    if both is not None:
        if scrub or leave:
            every = "Of a global fact the words are erased in every place of both memories."
            raise InvalidInput(every, "Name no place.")
        return _purge_both(call, both, dry_run, yes)
    plan = meant.plan(memory)
    chosen = (_places_named(plan, scrub) if scrub else plan.default_places()) - _places_named(plan, leave)
    if dry_run:
        elsewhere = [
            select_fields(one, "citation", "what", "text", "can", "note") | {"scrub": index in chosen}
            for index, one in enumerate(plan.places)
        ]
        going = [select_fields(one, "citation", "kind", "text", "why") for one in plan.going]
        return Outcome(data=lambda: {"purge": going, "elsewhere": elsewhere}, lines=_plan_lines(plan, chosen))
    call.agree(yes, _purge_question(plan, chosen), no="Nothing was purged.")
    report = run_purge(memory, plan, chosen)
    said = f"Erased {format_count(report.done.purged, 'record')} with all old versions."
    lines = [*map(visible, report.list_lines())]
    return Outcome(said, report.as_json, lines, status=report.status, error=report.error)


# selection


def select_purged(
    ids: Sequence[str], query: str | None, origin: str | None, before: str | None, kind: str | None, yes: bool
) -> PurgeSelection:
    """Return what the arguments of `purge` mean. Words that cite no record are a query, as in `purge Greta`; not with
    --yes, where one may be a mistyped citation. Raise InvalidInput."""
    if ids and query is None and not yes and not any(map(_cites_record, ids)):
        ids, query = (), " ".join(ids)
    cited = [parse_reference(text, "fact", *PURGEABLE_KINDS, "global") for text in ids]
    return PurgeSelection([(one.kind, int(one.target)) for one in cited], query, origin, before, kind)


def _cites_record(text: str) -> bool:
    try:
        parse_citation(text, "fact")
    except InvalidInput:
        return False
    return True


def _places_named(plan: PurgePlan, named: Sequence[str]) -> frozenset[int]:
    """Return the places that these words name. Raise InvalidInput for a word that names none, or a place that
    cannot be erased."""
    found = frozenset[int]()
    for word in (word.strip() for text in named for word in text.split(",")):
        places = {index for index, place in enumerate(plan.places) if _names_place(word, place)}
        if not places and word not in ("all", "files"):
            raise InvalidInput("That is not among the places that hold the words.", "See them with --dry-run.")
        if stuck := next((plan.places[index] for index in places if not plan.places[index].can), None):
            raise InvalidInput(f"{stuck.citation} cannot be erased: {stuck.what}.", "Leave it out.")
        found |= places
    return found


def _names_place(word: str, place: RemainingMatch) -> bool:
    """Tell whether a word names this place: by its citation or file name; `all` names every place in the memory,
    `files` what can be cut out of the user's own files."""
    if word in ("all", "files"):
        return place.can and (place.table == "file") == (word == "files")
    return word == place.citation or (place.table == "file" and word == place.key)


def _purge_question(plan: PurgePlan, chosen: frozenset[int]) -> str:
    """Return the question whether to erase the records and places of a plan."""
    names = [one.citation for one in plan.going]
    staying = [place.citation for index, place in enumerate(plan.places) if index not in chosen]
    files = dict.fromkeys(plan.places[index].key for index in sorted(chosen) if plan.places[index].table == "file")
    scrubbed = f" Erased in {format_count(len(chosen), 'other place')} too." if chosen else ""
    scrubbed += f" Sentences are cut out of your files {', '.join(files)}." if files else ""
    left = f" The words stay in {name_some(staying)}." if staying else ""
    erased = f"Erase {format_count(len(names), 'record')} with all old versions, {name_some(names)}?"
    return f"{erased}{scrubbed}{left} This cannot be undone."


# output


def _plan_lines(plan: PurgePlan, chosen: frozenset[int]) -> list[str]:
    """Return a line for each record to erase and each other place that contains the words."""
    lines = [f"Would erase {format_count(len(plan.going), 'record')} with all old versions:"]
    for one in plan.going:
        why = f"  ({one.why})" if one.why else ""
        lines.append(f"  − {one.citation:<6}  {shorten(one.text)}{why}")
    lines += ["The same words are in:"] if plan.places else []
    for index, place in enumerate(plan.places):
        cut = ", would be cut" if place.table == "file" and index in chosen else ""
        what = f"{place.what}{cut}{f'; {place.note}' if place.note else ''}"
        box = "[x]" if index in chosen else "[ ]" if place.can else "[-]"
        lines.append(f"  {box} {visible(place.citation)}  {shorten(place.text)}  ({what})")
    if any(place.can for place in plan.places):
        files = ", --leave files all of your own files" if any(one.table == "file" for one in plan.places) else ""
        lines.append(f"[x] is erased here too; --leave ID leaves one as it is{files}.")
    return lines


def _purge_both(call: Call, both: PlanOfBoth, dry_run: bool, yes: bool) -> Outcome:
    """Erase in both memories, after a single question."""
    memory = call.memory
    names = [one.citation for one in both.as_one(memory).going]
    if dry_run:
        lines = list[str]()
        for where, _, plan in both.parts(memory):
            lines += [where, *_plan_lines(plan, plan.default_places())]
        return Outcome(lines=[*lines, *both.elsewhere], data=lambda: {"purge": names, "elsewhere": both.elsewhere})
    erased = f"Erase {format_count(len(names), 'record')} with all old versions, {name_some(names)}"
    question = f"{erased}, in your personal memory and here? This cannot be undone."
    call.agree(yes, question, both.elsewhere, "Nothing was purged.")
    did, status, error = both.report_parts(memory)
    said = f"Erased {format_count(len(names), 'record')} with all old versions."
    data = {"purged": names, "elsewhere": both.elsewhere}
    return Outcome(said, lambda: data, [*map(visible, did)], status=status, error=error)


# List what was redacted, mark what is no secret, and scan for secrets stored before a rule existed.

CUT_IS_GONE = "What was cut is gone; only its place is known. Not a secret? memoranda secrets allow RULE [SHAPE]"
SHOWN_MATCHES = 3


@verb(looks=True)
def secrets(
    call: Call,
    what: Annotated[str | None, Shown("allow|cut|rules", ("allow", "cut", "rules"))] = None,
    rule: Annotated[str | None, Shown("RULE")] = None,
    shape: Annotated[str, Shown("SHAPE")] = "",
    *,
    scan: bool = False,
    personal: bool = False,
    purge: bool = False,
    limit: int = 50,
    yes: bool = False,
) -> Outcome:
    """Where secrets were cut out of what was written; say what is no secret, or look for those that are stored.

    what: allow a rule, cut it again, or list them
    rule: a rule, as in SK_KEY
    shape: only what looks so, sk-ticket*: * stands for any characters
    scan: instead: look in all that is stored, also what was stored before a rule was known
    personal: with --scan: for e-mails, phones, ids, accounts and cards of people instead
    purge: with --scan: cut them out of the records and their history, for good
    """
    if scan:
        if what is not None:
            raise InvalidInput("--scan looks in all that is stored.", f"Leave {what} out.")
        return _scan_for_secrets(call, personal, purge, yes)
    if personal or purge:
        raise InvalidInput("--personal and --purge go with --scan.", "memoranda secrets --scan --purge")
    if what is None:
        return _list_redactions(call.memory, limit)
    if what == "rules":
        return _list_rules(call.memory)
    if what not in ("allow", "cut"):
        raise InvalidInput("Secrets are listed, allowed or cut again.", "memoranda secrets allow RULE [SHAPE]")
    if rule is None:
        raise InvalidInput(f"{what} wants a rule.", "memoranda secrets rules lists them.")
    path = user_settings_path()
    if what == "cut":
        entry = remove_allowance(rule, shape)
        return Outcome(
            f"{entry} is cut again. What was stored meanwhile: memoranda secrets --scan finds it.",
            lambda: {"cut": entry, "file": path},
        )
    entry = add_allowance(rule, shape)
    again = f"memoranda secrets cut {entry.replace('=', ' ', 1)}"
    return Outcome(
        f"{entry} is not a secret from now on, in {path}. What was cut before is gone. To cut it again: {again}",
        lambda: {"allowed": entry, "file": path},
    )


def _list_redactions(memory: Memory, limit: int) -> Outcome:
    found = list_redactions(memory.database, limit + 1)
    shown = found[:limit]
    allowed = list_allowances()
    cells = [
        (
            format_local_time(cut.at),
            cut.citation,
            cut.field,
            _rule_times(cut.rule, cut.count),
            f"by {cut.actor}" if cut.actor == cut.door else f"by {cut.actor}, {cut.door}",
        )
        for cut in shown
    ]
    lines = _align_cells(cells) or ["Nothing was cut: no rule found a secret."]
    lines += more_line(len(found) - len(shown), limit)
    if shown:
        lines += ["", CUT_IS_GONE]
    if allowed:
        lines.append(f"Allowed by you: {visible(', '.join(allowed))}")
    names = ("at", "citation", "field", "rule", "count", "actor", "door")
    return Outcome(
        lines=lines,
        data=lambda: {"redactions": [select_fields(cut, *names) for cut in shown], "allowed": list(allowed)},
    )


def _list_rules(memory: Memory) -> Outcome:
    counts = count_redactions(memory.database)
    allowed = list_allowances()
    rules: list[dict[str, Any]] = []
    cells: list[tuple[str, ...]] = []
    for rule in load_labels():
        number = counts.get(rule, 0)
        items = [item for item in allowed if item.partition("=")[0] == rule]
        rules.append({"rule": rule, "cuts": number, "allowed": items})
        allows = f"allowed: {', '.join(items)}" if items else ""
        cells.append((rule, format_count(number, "cut") if number else "", allows))
    return Outcome(lines=_align_cells(cells), data=lambda: rules)


def _scan_for_secrets(call: Call, personal: bool, purge: bool, yes: bool) -> Outcome:
    """Scan all that is stored, and cut out what is found if that is wanted."""
    database = call.memory.database
    scanner, thing = (PERSONAL_DATA_SCANNER, "trace of a person") if personal else (SECRET_SCANNER, "secret")
    again = f"memoranda secrets --scan {'--personal ' if personal else ''}--purge"
    still_in_log = (
        " Another program is reading the memory, and its log still holds what was cut; close it, then say"
        f" {again} again."
    )
    leaks = scan_secrets(database, scanner)
    if not leaks:
        # a scrub that was interrupted left the log or a backup
        pending = purge and not scrub_secrets(database, (), scanner=scanner)
        said = f"No {thing} was found in what is stored." + (still_in_log if pending else "")
        return Outcome(
            said,
            lambda: {"found": [], "scrubbed": 0, "pending": pending},
            status=ExitStatus.UNFINISHED if pending else ExitStatus.DONE,
        )
    cells = []
    for leak in leaks:
        seen = ", ".join(leak.masked[:SHOWN_MATCHES]) + (" …" if len(leak.masked) > SHOWN_MATCHES else "")
        where = f"in step {leak.seq} of history" if leak.seq else ""
        cells.append((leak.citation, leak.field, _rule_times(leak.rule, leak.count), where, seen))
    lines = _align_cells(cells)
    known = ("citation", "field", "rule", "count", "masked")
    found = [select_fields(leak, *known) | {"step": leak.seq or None} for leak in leaks]
    number = sum(leak.count for leak in leaks)
    places = format_count(len(leaks), "place")
    total = format_count(number, thing) if number == 1 or not personal else f"{number:,} traces of people"
    if not purge:
        none = "" if personal else "; for what is none: memoranda secrets allow RULE"
        return Outcome(
            data=lambda: {"found": found, "scrubbed": 0, "pending": False},
            lines=[*lines, "", f"{total} in {places}. {again} cuts them out{none}"],
            status=ExitStatus.DONE if personal else ExitStatus.PERSON,
        )
    names = list(dict.fromkeys(leak.citation for leak in leaks))
    call.agree(yes, f"Cut {total} out of {name_some(names, 5)} for good?")
    wiped = scrub_secrets(database, leaks, scanner=scanner)
    left = sum(leak.table == "history" for leak in leaks)
    rotate = "" if personal else " Whoever read them before may have them: replace them where they were issued."
    said = f"Cut {total} out of {places}; undo does not bring them back."
    if left:
        said = f"Cut all but {format_count(left, 'place')} in history's own words, which its digests rest on."
    return Outcome(
        f"{said}{rotate}{'' if wiped else still_in_log}",
        lambda: {"found": found, "scrubbed": len(leaks) - left, "pending": not wiped},
        [*lines, "Exports and copies elsewhere still contain them."],
        status=ExitStatus.UNFINISHED if not wiped else ExitStatus.CANNOT if left else ExitStatus.DONE,
    )


def _rule_times(rule: str, number: int) -> str:
    """Return a rule, with the number of its matches if there are several."""
    return rule if number == 1 else f"{rule} ×{number}"


def _align_cells(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the cells in columns, two spaces apart."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in shown]
