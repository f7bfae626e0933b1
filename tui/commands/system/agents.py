"""mcp, agents, pause."""

from store.base.errors import InvalidInput, NotFound, NotOurs
from tui.commands import Outcome, Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from store.doors.session.calls import AgentActivity, AgentCall
    from store.doors.session.injections import Injection
    from tui.input.argument_parser import ParsedArguments

DAY = 24 * 60  # maximum minutes of a pause

NOBODY = (
    "No agent asked for anything here yet: memoranda connect lists those that can be connected. What agents wrote"
    " is in facts, timeline and inbox, each with its name."
)


def mcp(session: Session, given: "ParsedArguments") -> Outcome:
    if session.location.look:
        raise NotOurs(f"{session.location.path} is only looked at: no agent is served from it.", "memoranda adopt")
    if session.application is not None:
        raise InvalidInput(
            "This is started by an agent, which speaks to it in JSON; there is nothing here for a person to type.",
            "See docs/agents.md for how to set it up.",
        )
    from store.doors.mcp.opening import run as serve_mcp

    serve_mcp(session.location, given.session)
    return Outcome()


def pause(session: Session, given: "ParsedArguments") -> Outcome:
    from store.base.clock import local_time, utc_now
    from store.doors import pause as agent_pause

    path = session.location.path
    if given.off:
        agent_pause.resume(path)
        return Outcome("Agents are served again.", lambda: {"paused_until": None})
    if not 1 <= given.minutes <= DAY:
        raise InvalidInput(f"A pause lasts from 1 to {DAY:,} minutes.", "memoranda pause --minutes 60")
    until = agent_pause.pause(path, utc_now(), given.minutes)
    said = f"No agent is sent anything of this memory, and none can write, until {local_time(until)}."
    return Outcome(f"{said} memoranda pause --off ends it.", lambda: {"paused_until": until})


def agents(session: Session, given: "ParsedArguments") -> Outcome:
    from store.doors.session import calls, injections
    from tui.render.details.agents import activity_lines, call_line, injection_line

    memory = session.memory
    now = memory.now
    found = calls.activity(memory.database, now)
    wanted = given.agent or ""
    if wanted.isascii() and wanted.isdigit():
        return _sent(injections.get(memory.database, int(wanted)))
    if wanted:
        one = next((each for each in found if wanted == each.agent or wanted in each.clients), None)
        if one is None:
            raise NotFound(f"No agent called “{wanted[:40]}” was here.", "List them: memoranda agents")
        clients = one.clients
        found = [one]
    else:
        clients = ("",)
    did = [call for client in clients for call in calls.newest(memory.database, client, given.limit)]
    sent = [each for client in clients for each in injections.newest(memory.database, client, given.limit)]
    lines = [line for each in found for line in activity_lines(each, now)]
    if wanted:
        lines += ["", "CALLS, newest first", *(call_line(call, now) for call in did)]
        lines += [
            "",
            "SENT, newest first; memoranda agents NUMBER shows one",
            *(injection_line(one, now) for one in sent),
        ]
    if not lines:
        lines = [NOBODY]
    return Outcome(lines=lines, data=lambda: _as_json(found, did, sent, bool(wanted)))


def _as_json(found: "list[AgentActivity]", did: "list[AgentCall]", sent: "list[Injection]", whole: bool) -> object:
    from dataclasses import asdict

    rows = [asdict(one) for one in found]
    if not whole:
        return rows
    return {**rows[0], "calls": [asdict(one) for one in did], "sent": [asdict(one) for one in sent]}


def _sent(one: "Injection") -> Outcome:
    from dataclasses import asdict

    from store.base.clock import local_time
    from tui.theme.escape import visible

    lines = [f"{one.client}, {local_time(one.at)}, {one.event}, {one.tokens:,} tokens, session {one.session or '-'}"]
    lines += [f"because of: {one.question}"] if one.question else []
    lines += ["", *one.text.split("\n"), ""]
    for citation, why in one.why.items():
        lines.append(f"{citation}  {why}{', used by the reply' if citation in one.used else ''}")
    return Outcome(lines=[visible(line) for line in lines], data=lambda: asdict(one))
