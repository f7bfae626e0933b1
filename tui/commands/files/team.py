"""share, team: decisions and facts shared with other people, or one's own other machines, through a git remote."""

from store.base.errors import Declined, InvalidInput
from store.team.collect import SHAREABLE as SHAREABLE_DOMAINS
from tui.commands import Outcome, Session
from tui.render.plurals import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from store.memory import Memory
    from store.team.collect import Local, ShareChoice
    from store.team.exchange import Exchanged, Team
    from tui.input.argument_parser import ParsedArguments

OFF, DECISIONS, GLOBAL = "off", "decisions", "global"
SHOWN = 50  # records of a preview
# what of a decision leaves this machine besides its title and what was chosen
PARTS = (("instead of", "alternatives"), ("because", "rationale"), ("context", "context"), ("impact", "impact"))
REACH = (
    "Everybody who can read from {} gets them, and a copy of it elsewhere cannot be called back."
    " Purging one erases it here, on that remote and on every machine that exchanges afterwards."
)


def share(session: Session, given: "ParsedArguments") -> Outcome:
    from dataclasses import replace

    from store.base.location import is_personal, personal_path
    from store.team.exchange import Team

    with Team(session.memory) as team:
        if not given.what and not given.name and not given.remote:
            return _shared(session.memory, team)
        if OFF in given.what:
            if len(given.what) > 1:
                raise InvalidInput("Sharing is off, or it is of something.", "share off; or share work decisions")
            team.choose(choice_of(()))
            said = "Nothing is shared from now on, no correction either. What was shared stays with those who have it."
            return Outcome(said, lambda: {"share": []})
        choice = choice_of(given.what) if given.what else team.choice
        if choice.everywhere and not is_personal(session.memory.database.path):
            raise InvalidInput(
                "Global facts lie in your personal memory, not in this one.",
                f"Share them from there: memoranda --db {personal_path()} share preferences global --remote ADDRESS",
            )
        new = team.preview(choice)
        remote = given.remote or team.remote
        lines = preview_lines(new)
        if is_personal(session.memory.database.path) and not choice.everywhere:
            rest = len(team.preview(replace(choice, everywhere=True))) - len(new)
            lines += [f"{count(rest, 'global fact')} not among them: add the word {GLOBAL}."] if rest else []
        if given.dry_run:
            return Outcome(
                f"Would share {count(len(new), 'record')} through {remote}.", lambda: _data(choice, new), lines
            )
        question = (
            f"Share {count(len(new), 'record')} through {remote}, and what is added to it? {REACH.format(remote)}"
        )
        if not given.yes and not session.ask(question, lines):
            raise Declined("Nothing was shared.")
        team.choose(choice, given.name or team.name or _own_name(session), given.remote)
        done = exchange(session, team)
        sent = {(one.id[0], one.number) for one in team.held() if one.id.endswith(f"@{team.writer}")}
        known = [one for one in new if (one.kind[0].upper(), one.number) not in sent]
        lines += [f"Of these shared before, by a copy of this memory: {count(len(known), 'record')}."] if known else []
        said = f"Shared {count(len(new) - len(known), 'record')} through {remote}."
        if not new:
            said = f"What you add to {_words(choice.text())} is shared through {remote}; nothing is there yet."
        return Outcome(
            said,
            lambda: {**_data(choice, new), **exchanged_data(done)},
            [*lines, *exchanged_lines(team, done)],
        )


NOBODY = "Nobody shares yet. Begin: memoranda share work decisions"


def team(session: Session, given: "ParsedArguments") -> Outcome:
    from store.team.exchange import Team
    from store.team.sharing import shares

    if given.act is None and not shares(session.memory):  # nothing is made to say so
        return Outcome(NOBODY, list)
    with Team(session.memory) as members:
        if given.act is None:
            return _members(members)
        if given.act == "sync":
            done = exchange(session, members)
            return Outcome(exchanged_message(done), lambda: exchanged_data(done), exchanged_lines(members, done))
        if given.act == "believe":
            if not given.who:
                raise InvalidInput("Whom?", "team believe ANA work decisions; team believe ANA takes it back")
            found = members.believe(given.who, choice_of(given.what))
            said = f"What {found.shown} adds is taken without a question: {_words(found.believed)}."
            if not found.believed:
                said = f"All that {found.shown} shares is asked about from now on."
            return Outcome(said, lambda: {"writer": found.writer, "believed": found.believed.split()})
        if given.act == "trust":
            if not given.who:
                raise InvalidInput("Whom?", "team trust ANA, once Ana told you that her key changed")
            found = members.trust(given.who)
            done = exchange(session, members)
            state = next(state for state, _ in members.members() if state.writer == found.writer)
            said = f"{state.shown} signs with {state.key}." if state.key else f"{state.shown} does not sign."
            return Outcome(
                f"{said} What waited was taken in; from now on anything else waits again.",
                lambda: {"writer": state.writer, "key": state.key, **exchanged_data(done)},
                exchanged_lines(members, done),
            )
        if given.act == "was":
            if not given.who:
                raise InvalidInput("Who were you?", "team was ANA, whose memory this one was copied from")
            found = members.was(given.who)
            done = exchange(session, members)
            said = f"{found.shown} was you: what you forget, restore or purge of theirs is done in their stream."
            return Outcome(
                said, lambda: {"writer": found.writer, **exchanged_data(done)}, exchanged_lines(members, done)
            )
        new = members.start_anew()
        done = exchange(session, members)
        return Outcome(f"This memory goes on as {new}.", lambda: {"writer": new, **exchanged_data(done)})


def replicate(session: Session, given: "ParsedArguments") -> Outcome:
    from store.embedding import provider_selection as embedding_provider
    from store.team.exchange import Team
    from store.team.postgres.replica import Replica

    name = given.team or session.location.name
    replica = Replica(given.address, name)
    provider = None if given.words else embedding_provider.open(session.memory.config).provider
    try:
        with Team(session.memory) as team:
            done = team.replicate(replica, provider)
    finally:
        replica.close()
        if provider is not None:
            provider.close()
    replaced = f", {count(done.replaced, 'stream')} replaced after a purge" if done.replaced else ""
    said = f"Wrote {count(done.records, 'record')} of the team {name}: {count(done.operations, 'operation')}{replaced}."
    return Outcome(
        said if done.operations else f"The team {name} is up to date there.",
        lambda: {
            "team": name,
            "operations": done.operations,
            "records": done.records,
            "embedded": done.embedded,
            "replaced": done.replaced,
        },
        [f"{count(done.embedded, 'vector')} computed."] if done.embedded else [],
    )


def choice_of(words: "Sequence[str]") -> "ShareChoice":
    """Return what these words choose: domains, and `decisions`. Raise InvalidInput."""
    from store.team.collect import ShareChoice

    for word in words:
        if word not in (*SHAREABLE_DOMAINS, DECISIONS, GLOBAL):
            every = " ".join((*SHAREABLE_DOMAINS, DECISIONS, GLOBAL))
            raise InvalidInput(f"{word} is nothing that can be shared.", f"Choose among: {every}.")
    if set(words) == {GLOBAL}:
        raise InvalidInput("Global facts of which domains?", f"As in: share preferences {GLOBAL}")
    # `decisions` is a domain of facts as well as the kind of record: both are meant
    return ShareChoice(tuple(dict.fromkeys(one for one in words if one != GLOBAL)), DECISIONS in words, GLOBAL in words)


def preview_lines(new: "Sequence[Local]") -> list[str]:
    """Return the exact texts that would be shared, a line each."""
    from store.base.citations import cite
    from tui.theme.escape import visible

    lines = []
    for one in new[:SHOWN]:
        here, kind = f"{cite(one.kind, one.number):<6}", str(one.fields.get("domain", "decision"))
        if one.kind == "fact":
            tags = "".join(f" #{tag}" for tag in one.fields["tags"])
            kind += f" {one.fields['scope']}" if "scope" in one.fields else ""
            lines.append(f"{here}  {kind:<11}  {visible(one.fields['fact'] + tags)}")
            continue
        lines.append(f"{here}  {kind:<11}  {visible(one.fields['title'] + ': ' + one.fields['chosen'])}")
        for label, name in PARTS:
            if value := one.fields[name]:
                text = "; ".join(value) if isinstance(value, list) else value
                lines.append(f"{'':<6}  {label:<11}  {visible(text)}")
    if len(new) > SHOWN:
        lines.append(f"… and {len(new) - SHOWN:,} more: share --dry-run --json lists all of them.")
    return lines


def exchanged_message(done: "Exchanged") -> str:
    """Return what an exchange did, in a sentence."""
    arrived = sum(done.arrived.new.values()) + sum(done.arrived.changed.values())
    if not (done.sent or done.received or arrived):
        return "Nothing new on either side."
    return f"Sent {count(done.sent, 'change')}, received {count(done.received, 'change')}."


def exchanged_lines(team: "Team", done: "Exchanged") -> list[str]:
    """Return what arrived, by writer, and what is wrong."""
    from tui.theme.escape import visible

    names = {state.writer: state.shown for state, _ in team.members()}
    lines = []
    for writer in sorted({*done.arrived.new, *done.arrived.changed}):
        new, changed = done.arrived.new.get(writer, 0), done.arrived.changed.get(writer, 0)
        parts = [f"shared {new:,}" if new else "", f"changed {changed:,}" if changed else ""]
        lines.append(f"{visible(names.get(writer, writer))} {', '.join(filter(None, parts))}: see the inbox.")
    if done.arrived.believed:
        lines.append(f"{count(done.arrived.believed, 'record')} of writers whom you believe were taken at once.")
    if done.arrived.erased:
        lines.append(f"Erased here, since their authors purged them: {count(done.arrived.erased, 'record')}.")
    if done.linked:
        lines.append(f"{count(done.linked, 'commit')} linked to decisions that they name.")
    return [*lines, *(visible(one) for one in (*done.arrived.notes, *done.warnings))]


def exchanged_data(done: "Exchanged") -> dict[str, object]:
    return {
        "sent": done.sent,
        "received": done.received,
        "new": done.arrived.new,
        "changed": done.arrived.changed,
        "believed": done.arrived.believed,
        "purged": done.arrived.erased,
        "linked": done.linked,
        "notes": done.arrived.notes,
        "warnings": done.warnings,
    }


def _shared(memory: "Memory", team: "Team") -> Outcome:
    from store.base.location import is_personal

    choice = team.choice
    new = team.preview(choice)
    if not choice:
        every = f"{' '.join(SHAREABLE_DOMAINS)}; {DECISIONS} are these facts and the decisions"
        if is_personal(memory.database.path):
            every += f"; {GLOBAL}: of these domains what holds in every project too"
        said = f"Nothing is shared. Choose what is, and see it first: memoranda share work {DECISIONS}"
        return Outcome(said, lambda: _data(choice, []), [f"What can be: {every}."])
    waiting = f"{count(len(new), 'record')} waiting to be sent" if new else "all of it was sent"
    said = f"Shared through {team.remote}: {_words(choice.text())}; {waiting}."
    return Outcome(said, lambda: _data(choice, new), preview_lines(new))


def _words(choice: str) -> str:
    """Return a stored choice as a person types it."""
    return " ".join(dict.fromkeys(choice.replace("+", "").split()))


def _members(team: "Team") -> Outcome:
    from tui.render.metrics.metric import size
    from tui.theme.escape import visible

    found = team.members()
    if not found:
        return Outcome(NOBODY, list)
    lines = []
    sizes = {state.writer: team.size(state) for state, _ in found}
    who = {state.writer: team.you(state.writer) for state, _ in found}
    for state, records in found:
        believed = f"believed for {state.believed.replace('+', '')}" if state.believed else ""
        key = f"signed by {state.key}" if state.key else "not signed"
        last = f"last new {state.at[:10]}" if state.at else ""
        bytes = size(sizes[state.writer]) if sizes[state.writer] else ""
        much = count(records, "record"), count(state.seq, "operation"), bytes
        about = [who[state.writer], *much, last, key, believed, state.said]
        lines.append(
            f"{state.writer}  {visible(state.name or '(no name)'):<20}  {visible(', '.join(filter(None, about)))}"
        )
    return Outcome(
        "",
        lambda: [
            {
                "writer": state.writer,
                "name": state.name,
                "you": who[state.writer] == "you",
                "before": who[state.writer] == "you before",
                "records": records,
                "operations": state.seq,
                "bytes": sizes[state.writer],
                "at": state.at,
                "believed": state.believed.split(),
                "key": state.key,
                "warning": state.said,
            }
            for state, records in found
        ],
        lines,
        status=1 if any(state.said for state, _ in found) else 0,
    )


def exchange(session: Session, team: "Team") -> "Exchanged":
    """Exchange with the team, and show progress. Raise what `Team.exchange` does."""
    try:
        return team.exchange(session.wait)
    finally:
        session.wait("")


def _own_name(session: Session) -> str:
    """Return the name that git has for this person; empty without one."""
    from store.team.sharing import git_name

    return git_name(session.cwd)


def _data(choice: "ShareChoice", new: "Sequence[Local]") -> dict[str, object]:
    return {
        "share": choice.text().replace("+", "").split(),
        "new": [{"kind": one.kind, "number": one.number, **one.fields} for one in new],
    }
