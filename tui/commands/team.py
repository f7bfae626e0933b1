"""team: decisions and facts shared with other people, or one's own other machines, through a git remote; and what teams
shared, read from a database."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from functools import partial
from typing import Annotated

from store.base.errors import ExitStatus, InvalidInput
from store.base.location import is_personal_memory, personal_memory_path
from store.base.models import select_fields
from store.config.configuration import load_config
from store.embedding.provider_selection import choose_provider
from store.memory import Memory
from store.text.display import format_count, visible
from store.upkeep.optional import has_shared_records
from tui.commands.call import Call, Outcome
from tui.commands.documents import show_exchange
from tui.input.arguments import Shown, verb
from tui.render.lines import KIND_GLYPHS

try:
    from store.team.collect import SHAREABLE_DOMAINS, ShareChoice, choice_words, preview_sharing
    from store.team.exchange import Team, git_user_name
    from store.team.postgres import Replica, ReplicaReader, ReplicaRecord
except ModuleNotFoundError:  # the verb is there without its part, and refused before it uses any of these
    pass

ACTS = ("share", "sync", "believe", "trust", "was", "new", "replicate", "replica")
SHARE, REPLICATE, REPLICA = ("share",), ("replicate",), ("replica",)
SHARE_OFF, SHARE_DECISIONS, SHARE_GLOBAL = "off", "decisions", "global"
WHO_CAN_READ = (
    "Everybody who can read from {} gets them, and a copy of it elsewhere cannot be called back."
    " Purging one erases it here, on that remote and on every machine that exchanges afterwards."
)
# acts that are nothing without a word: what is missing, and how it is said
MISSING_WORDS = {
    "believe": ("Whom?", "team believe ANA work decisions; team believe ANA takes it back"),
    "trust": ("Whom?", "team trust ANA, once Ana told you that her key changed"),
    "was": ("Who were you?", "team was ANA, whose memory this one was copied from"),
    "replicate": ("Where to?", "team replicate postgresql://user@host/name"),
}
NOBODY_SHARES = "Nobody shares yet. Begin: memoranda team share work decisions"


@verb(
    part="team",
    opens=lambda given: "nothing" if given.act == "replica" else "memory",
    apart=lambda given: given.act == "replica",
    looks=lambda given: not given.act,
)
def team(
    call: Call,
    act: Annotated[str | None, Shown("|".join(ACTS), ACTS)] = None,
    words: Annotated[list[str], Shown("WRITER|DOMAIN|decisions|global|ADDRESS|WORDS")] = [],
    *,
    name: Annotated[str, Shown("NAME", acts=SHARE)] = "",
    remote: Annotated[str, Shown("REMOTE", acts=SHARE)] = "",
    team: Annotated[str, Shown("NAME", acts=REPLICATE + REPLICA)] = "",
    keywords: Annotated[bool, Shown(acts=REPLICATE + REPLICA)] = False,
    limit: Annotated[int, Shown(acts=REPLICA)] = 20,
    dry_run: Annotated[bool, Shown(acts=SHARE)] = False,
    yes: Annotated[bool, Shown(acts=SHARE)] = False,
) -> Outcome:
    """Who shares with you, and what they share; share facts and decisions through a git remote.

    act: share: some domains and decisions, seen first, and off until you do; sync: exchange now; believe: take what
        somebody adds without a question; trust: take the key that somebody signs with now; was: a writer that you
        were, and nobody is now; new: go on under a new identity; replicate: copy what the team shared to a PostgreSQL
        database, for other tools to read; replica: search what teams shared there, read-only
    words: what is shared from now on, or off: nothing new is; a writer or their name, and what of theirs is believed,
        without it all is asked about again; postgresql://user@host/name; words to search for, F2@WRITER to see it
        whole, or nothing for the teams there and what is newest
    name: what the others see (your name in git)
    remote: a remote of this project, or an address (origin)
    team: what the team is called there (this project's folder); or search only this one
    keywords: by words alone, without a model or vectors
    limit: how many are found at the most (20)
    """
    if act is not None and act not in ACTS:
        raise InvalidInput(f"team does not know “{visible(act[:40])}”.", "See `memoranda team --help`.")
    if act in MISSING_WORDS and not words:
        raise InvalidInput(*MISSING_WORDS[act])
    match act:
        case "replica":
            return _search_replica(call, words, team, limit, keywords)
        case "replicate":
            return _replicate(call, words, team, keywords)
        case None if not has_shared_records(call.memory):  # nothing is made to say so
            return Outcome(NOBODY_SHARES, list)
    with Team(call.memory) as members:
        match act:
            case None:
                return _list_members(members)
            case "share" if not words and not name and not remote:
                return _share_status(call.memory, members)
            case "share" if SHARE_OFF in words:
                return _stop_sharing(members, words)
            case "share":
                return _share(call, members, words, name, remote, dry_run, yes)
            case "believe":
                return _believe(members, words[0], words[1:])
        return _exchange(call, members, act, words)


def _share(
    call: Call, members: Team, words: Sequence[str], name: str, remote: str, dry_run: bool, yes: bool
) -> Outcome:
    """Share what is chosen from now on, once the person has seen it."""
    personal = is_personal_memory(call.memory.database.path)
    choice = parse_share_choice(words) if words else members.choice
    if choice.everywhere and not personal:
        raise InvalidInput(
            "Global facts lie in your personal memory, not in this one.",
            "Share them from there: memoranda --db "
            f"{personal_memory_path()} team share preferences global --remote ADDRESS",
        )
    new = members.list_unshared(choice)
    through = remote or members.remote
    lines = preview_sharing(new)
    if personal and not choice.everywhere:
        rest = len(members.list_unshared(replace(choice, everywhere=True))) - len(new)
        if rest:
            lines.append(f"{format_count(rest, 'global fact')} not among them: add the word {SHARE_GLOBAL}.")
    many, data = format_count(len(new), "record"), partial(choice.as_dict, new)
    if dry_run:
        return Outcome(f"Would share {many} through {through}.", data, lines)
    question = f"Share {many} through {through}, and what is added to it? {WHO_CAN_READ.format(through)}"
    call.agree(yes, question, lines, "Nothing was shared.")
    members.choose(choice, name or members.own_name or git_user_name(call.cwd), remote)
    done = show_exchange(call, members)
    sent = {(one.id[0], one.number) for one in members.held_records() if one.id.endswith(f"@{members.writer}")}
    known = [one for one in new if (one.kind[0].upper(), one.number) not in sent]
    if known:
        lines.append(f"Of these shared before, by a copy of this memory: {format_count(len(known), 'record')}.")
    said = f"Shared {format_count(len(new) - len(known), 'record')} through {through}."
    if not new:
        shared = choice_words(choice.as_text())
        said = f"What you add to {shared} is shared through {through}; nothing is there yet."
    return Outcome(said, lambda: data() | done.data, [*lines, *done.lines])


def _stop_sharing(members: Team, words: Sequence[str]) -> Outcome:
    if len(words) > 1:
        raise InvalidInput(
            "Sharing is off, or it is of something.", "team share off; or team share work decisions"
        )
    members.choose(parse_share_choice(()))
    said = "Nothing is shared from now on, no correction either. What was shared stays with those who have it."
    return Outcome(said, lambda: {"share": []})


def _believe(members: Team, who: str, words: Sequence[str]) -> Outcome:
    found = members.believe(who, parse_share_choice(words))
    said = f"What {found.display_name} adds is taken without a question: {choice_words(found.believed)}."
    if not found.believed:
        said = f"All that {found.display_name} shares is asked about from now on."
    return Outcome(said, lambda: {"writer": found.writer, "believed": found.believed.split()})


def _exchange(call: Call, members: Team, act: str | None, words: Sequence[str]) -> Outcome:
    """Exchange with the team, after what the act changes of who somebody is."""
    said, data = "", dict[str, object]()
    if act == "new":
        new = members.start_anew()
        said, data = f"This memory goes on as {new}.", {"writer": new}
    elif act == "was":
        found = members.mark_as_former(words[0])
        said = (
            f"{found.display_name} was you: what you forget, restore or purge of theirs is done in their stream."
        )
        data = {"writer": found.writer}
    elif act == "trust":
        found = members.trust(words[0])
    done = show_exchange(call, members)
    if act == "trust":
        state = next(state for state, _ in members.members() if state.writer == found.writer)
        signs = f"signs with {state.key}" if state.key else "does not sign"
        said = f"{state.display_name} {signs}. What waited was taken in; from now on anything else waits again."
        data = select_fields(state, "writer", "key")
    return Outcome(said or done.message, lambda: {**data, **done.data}, [] if act == "new" else done.lines)


def _replicate(call: Call, words: Sequence[str], team: str, keywords: bool) -> Outcome:
    """Copy what the team shared to a database."""
    if len(words) > 1:
        raise InvalidInput("team replicate wants one address.", f"As in: {MISSING_WORDS['replicate'][1]}")
    name = team or call.location.display_name
    with closing(Replica(words[0], name)) as replica, Team(call.memory) as members:
        provider = None if keywords else choose_provider(call.memory.config).provider
        with closing(provider) if provider else nullcontext():
            done = members.replicate(replica, provider)
    replaced = f", {format_count(done.replaced, 'stream')} replaced after a purge" if done.replaced else ""
    said = (
        f"Wrote {format_count(done.records, 'record')} of the team {name}: "
        f"{format_count(done.operations, 'operation')}{replaced}."
    )
    return Outcome(
        said if done.operations else f"The team {name} is up to date there.",
        lambda: {"team": name, **select_fields(done, "operations", "records", "embedded", "replaced")},
        [f"{format_count(done.embedded, 'vector')} computed."] if done.embedded else [],
    )


# replica: what teams shared, read from the PostgreSQL database that the person set.


def _search_replica(call: Call, words: Sequence[str], team: str, limit: int, keywords: bool) -> Outcome:
    """Search what teams shared in a database, or list the teams there, and what is newest."""
    with closing(ReplicaReader(load_config(call.location))) as reader:
        place = f"{reader.place}, read-only"
        if not words:
            teams = [one for one in reader.list_teams() if team in ("", one.name)]
            newest = reader.newest_records(team, limit)
            lines = [one.describe() for one in teams]
            lines += ["", *_group_lines("Newest", newest)] if newest else []
            data = {"teams": [one.as_dict() for one in teams], "newest": [one._asdict() for one in newest]}
            return Outcome(place, lambda: {"place": reader.place, **data}, lines)
        found = reader.search_records(" ".join(words), team, limit, not keywords)
    if len(found.records) == 1 and found.records[0].id == words[0].strip():
        lines = found.records[0].describe()
    else:
        lines = _group_lines("Exact", [one for one in found.records if one.exact])
        lines += _group_lines("Near", [one for one in found.records if not one.exact])
    notes = [found.note] if found.note else []
    hits = [one._asdict() for one in found.records]
    return Outcome(
        lines=[*lines, f"{len(found.records):,} found in {place}", *notes],
        data=lambda: {"place": reader.place, "meaning": found.meaning, "notes": notes, "hits": hits},
    )


def _group_lines(name: str, records: Sequence[ReplicaRecord]) -> list[str]:
    """Return a heading, then each record in two lines: its whole text, then who wrote it, where and when."""
    lines = [f"{name} {len(records):,}"] if records else []
    for one in records:
        text, about = one.summarize()
        lines += [f"{KIND_GLYPHS.get(one.kind, '·')} {text}", f"  {about}"]
    return lines


# lines, and JSON


def parse_share_choice(words: Sequence[str]) -> ShareChoice:
    """Parse the words of a choice: domains, `decisions`, `global`. Raise InvalidInput."""
    known = (*SHAREABLE_DOMAINS, SHARE_DECISIONS, SHARE_GLOBAL)
    for word in words:
        if word not in known:
            raise InvalidInput(f"{word} is nothing that can be shared.", f"Choose among: {' '.join(known)}.")
    if set(words) == {SHARE_GLOBAL}:
        raise InvalidInput("Global facts of which domains?", f"As in: team share preferences {SHARE_GLOBAL}")
    # `decisions` is a domain of facts as well as the kind of record: both are meant
    return ShareChoice(
        tuple(dict.fromkeys(one for one in words if one != SHARE_GLOBAL)),
        SHARE_DECISIONS in words,
        SHARE_GLOBAL in words,
    )


def _share_status(memory: Memory, team: Team) -> Outcome:
    choice = team.choice
    new = team.list_unshared(choice)
    if not choice:
        every = f"{' '.join(SHAREABLE_DOMAINS)}; {SHARE_DECISIONS} are these facts and the decisions"
        if is_personal_memory(memory.database.path):
            every += f"; {SHARE_GLOBAL}: of these domains what holds in every project too"
        said = f"Nothing is shared. Choose what is, and see it first: memoranda team share work {SHARE_DECISIONS}"
        return Outcome(said, partial(choice.as_dict, []), [f"What can be: {every}."])
    waiting = f"{format_count(len(new), 'record')} waiting to be sent" if new else "all of it was sent"
    said = f"Shared through {team.remote}: {choice_words(choice.as_text())}; {waiting}."
    return Outcome(said, partial(choice.as_dict, new), preview_sharing(new))


def _list_members(team: Team) -> Outcome:
    found = team.members()
    if not found:
        return Outcome(NOBODY_SHARES, list)
    lines = [team.describe_member(*one) for one in found]
    data = [team.member_as_dict(*one) for one in found]
    wrong = any(state.said for state, _ in found)
    return Outcome("", lambda: data, lines, status=ExitStatus.PERSON if wrong else ExitStatus.DONE)
