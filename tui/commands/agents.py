"""mcp, agents, connect, hook, serve, uninstall: how agents and browsers reach the memory."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Annotated

from store.base.clock import format_local_time, utc_now
from store.base.errors import Conflict, InvalidInput, NotFound, NotOurs, StorageError
from store.base.location import checkout_root
from store.base.models import select_fields
from store.config.configuration import user_settings_path
from store.doors import connection, git_hooks
from store.doors.agent_log import Injection, get_injection, list_agent_activity, list_agent_calls, list_injections
from store.doors.client import CLIENTS, SCOPE_LOCAL, AgentClient, ClientPlace, hook_program, write_claude_plugin
from store.doors.config_edit import EditBlocked
from store.doors.trust import pause_doors, resume_doors
from store.memory import Memory
from store.text.display import visible
from tui.browser import INSTALL_HINT
from tui.commands.call import Call, Outcome
from tui.input.arguments import Shown, UsageError, verb
from tui.render.details import activity_lines, agent_call_line, injection_line

# mcp, agents, pause.

# maximum minutes of a pause
LONGEST_PAUSE_MINUTES = 24 * 60

NO_AGENT_YET = (
    "No agent asked for anything here yet: memoranda connect lists those that can be connected. What agents wrote"
    " is in Facts, Timeline and Today, each with its name."
)


@verb(opens="nothing")
def mcp(call: Call, *, session: Annotated[str, Shown("KEY")] = "") -> Outcome:
    """Serve this memory to an agent over standard input and output (MCP); the agent starts it.

    session: the key of the session that it serves, for search.scopeRules
    """
    if call.location.look:
        reason = f"{call.location.path} is only looked at: no agent is served from it."
        raise NotOurs(reason, "memoranda import --adopt")
    if call.application is not None:
        raise InvalidInput(
            "This is started by an agent, which speaks to it in JSON; there is nothing here for a person to type.",
            "See docs/agents.md for how to set it up.",
        )
    # the types of the protocol take pydantic, 150 ms
    from store.doors.mcp_opening import serve_mcp_client

    serve_mcp_client(call.location, session)
    return Outcome()


@verb(opens=lambda given: "nothing" if given.pause else "memory", looks=True)
def agents(
    call: Call,
    agent: str | None = None,
    *,
    pause: bool = False,
    minutes: int = 60,
    off: bool = False,
    limit: int = 50,
) -> Outcome:
    """What agents did: calls, what they were sent and why, what they proposed; or pause them.

    agent: one of them, as claude-code; or what it was sent, by its number
    pause: for an hour nothing of this memory is sent to them or recorded from them
    minutes: of --pause: for how many minutes (60)
    off: of --pause: end it
    """
    if pause:
        return _pause(call.location.path, minutes, off)
    if off:
        raise UsageError("--off ends a pause.", "memoranda agents --pause --off")
    database, now = call.memory.database, call.memory.now
    if agent and agent.isascii() and agent.isdigit():
        return _show_injection(get_injection(database, int(agent)))
    activities = list_agent_activity(database, now)
    clients: Sequence[str] | None = None
    if agent:
        activities = [one for one in activities if agent == one.agent or agent in one.clients][:1]
        if not activities:
            raise NotFound(f"No agent called “{agent[:40]}” was here.", "List them: memoranda agents")
        clients = activities[0].clients
    did = list_agent_calls(database, clients, limit)
    sent = list_injections(database, clients, limit)
    lines = [line for one in activities for line in activity_lines(one, now)]
    rows = [one._asdict() for one in activities]
    if not agent:
        return Outcome(lines=lines or [NO_AGENT_YET], data=lambda: rows)
    lines += ["", "CALLS, newest first", *(agent_call_line(one, now) for one in did)]
    lines += ["", "SENT, newest first; memoranda agents NUMBER shows one"]
    lines += [injection_line(one, now) for one in sent]
    data = {"calls": [one._asdict() for one in did], "sent": [one._asdict() for one in sent]}
    return Outcome(lines=lines, data=lambda: rows[0] | data)


def _pause(path: str, minutes: int, off: bool) -> Outcome:
    """Pause a memory for all agents, or end the pause. Raise InvalidInput."""
    if off:
        resume_doors(path)
        return Outcome(pause_words(""), lambda: {"paused_until": None})
    if minutes > LONGEST_PAUSE_MINUTES:
        raise InvalidInput(
            f"A pause lasts from 1 to {LONGEST_PAUSE_MINUTES:,} minutes.", "memoranda agents --pause --minutes 60"
        )
    until = pause_doors(path, utc_now(), minutes)
    said = f"{pause_words(until)} memoranda agents --pause --off ends it."
    return Outcome(said, lambda: {"paused_until": until})


def pause_words(until: str) -> str:
    """Return until when agents are paused, as a sentence; or that they are served again."""
    if not until:
        return "Agents are served again."
    return f"No agent is sent anything of this memory, and none can write, until {format_local_time(until)}."


def injection_title(one: Injection) -> str:
    """Return to whom a text was sent, when, at which event, and how long it is."""
    sent = f"{one.client}, {format_local_time(one.at)}, {one.event}, {one.tokens:,} tokens"
    return f"{sent}, session {one.session or '-'}"


def _show_injection(one: Injection) -> Outcome:
    lines = [injection_title(one), *([f"because of: {one.question}"] if one.question else [])]
    lines += ["", *one.text.split("\n"), ""]
    for citation, why in one.why.items():
        lines.append(f"{citation}  {why}{', used by the reply' if citation in one.used else ''}")
    return Outcome(lines=[visible(line) for line in lines], data=one._asdict)


GIT_CLIENT = "git"
CLIENT_CHOICES = (*CLIENTS, GIT_CLIENT)
SCOPE_WORDS = {
    "local": "this project, for you alone",
    "project": "this project, for everybody",
    "user": "you, everywhere",
}


@verb(opens="nothing")
def connect(
    call: Call,
    agent: Annotated[str | None, Shown("AGENT", CLIENT_CHOICES)] = None,
    *,
    off: bool = False,
    plugin: Annotated[str | None, Shown("DIR", file=True)] = None,
    project: bool = False,
    user: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> Outcome:
    """Connect an agent with the memory: its server and its hooks; alone, list who is connected.

    agent: claude-code, codex, gemini, opencode, or git: its hooks
    off: put the files of the agent back as they were before it was connected
    plugin: instead: write a plugin of Claude Code to a new folder: the server, the hooks and a skill
    project: for everybody who works on this project: in files that git keeps
    user: for you in every project
    """
    if plugin is not None:
        return _write_plugin(call.path(plugin))
    if not agent:
        if off:
            raise UsageError(
                f"connect --off wants AGENT: {', '.join(CLIENT_CHOICES)}.", "List them: memoranda connect"
            )
        return _list_agents(call)
    if agent == GIT_CLIENT:
        return _change_git(call, off, project, dry_run, yes)
    if agent not in CLIENTS:
        raise InvalidInput(
            f"There is no agent “{visible(agent[:40])}” that we know.", f"One of: {', '.join(CLIENTS)}."
        )
    if project and user:
        raise InvalidInput("It is one of --project and --user.", "Without either: this project, for you alone.")
    place = _agent_place(call, "project" if project else "user" if user else "local")
    return (_disconnect_agent if off else _connect_agent)(call, CLIENTS[agent], place, dry_run, yes)


def _connect_agent(call: Call, client: AgentClient, place: ClientPlace, dry_run: bool, yes: bool) -> Outcome:
    """Connect an agent; show first what changes. Raise Declined and StorageError."""
    plan = connection.plan_connection(client, place)
    data, diff, scope = partial(plan.as_dict, dry_run), plan.diff, SCOPE_WORDS[place.scope]
    if plan.in_the_way:
        raise StorageError(" ".join(plan.in_the_way), "Nothing was changed.")
    if plan.is_empty:
        return Outcome(f"{client.title} is connected already: {scope}.", data)
    if dry_run:
        return Outcome(f"{client.title} would be connected: {scope}. Nothing was changed.", data, diff)
    call.agree(yes, f"Connect {client.title}: {scope}?", diff)
    _start_memory(call, place.scope)
    _carry_out(plan, connection.apply_connection)
    seen = connection.ask_client(client, place)
    lines = [f"  {visible(change.file)}" for change in plan.changes]
    lines += [f"{'ok  ' if one.state == 'ok' else 'note'}  {visible(one.says)}" for one in seen]
    lines += [f"then  {step}" for step in client.steps[place.scope]]
    lines.append(f"To undo this: memoranda connect {client.name} --off{_scope_option(place.scope)}")
    reports = {"seen": [select_fields(one, "state", "says") for one in seen]}
    return Outcome(f"Connected {client.title}: {scope}.", lambda: data() | reports, lines)


def _disconnect_agent(call: Call, client: AgentClient, place: ClientPlace, dry_run: bool, yes: bool) -> Outcome:
    """Put the files of an agent back; show first what changes. Raise Declined and StorageError."""
    plan = connection.plan_disconnection(client, place)
    data, diff = partial(plan.as_dict, dry_run), plan.diff
    if plan.is_empty:
        return Outcome(f"{client.title} is not connected here{_scope_option(place.scope, ', with')}.", data)
    if dry_run:
        return Outcome("Nothing was changed.", data, diff)
    call.agree(yes, f"Disconnect {client.title}?", diff)
    _carry_out(plan, connection.apply_disconnection)
    if plan.in_the_way:
        raise StorageError(
            " ".join(plan.in_the_way), "The rest is as it was; look at that file, then say it again."
        )
    return Outcome(f"Disconnected {client.title}; its files are as they were.", data)


def _write_plugin(folder: str) -> Outcome:
    """Write a plugin of Claude Code to a folder."""
    written = write_claude_plugin(folder)
    return Outcome(
        f"Wrote a plugin of Claude Code to {visible(folder)}.",
        lambda: {"folder": folder, "files": written},
        [*(f"  {name}" for name in written), f"Try it: claude --plugin-dir {visible(folder)}"],
    )


@verb(opens="nothing")
def hook(
    call: Call,
    client: Annotated[str, Shown("CLIENT", CLIENT_CHOICES)],
    more: Annotated[list[str], Shown("WORDS")] = [],
) -> Outcome:
    """What agents and git run at each event; reads it on standard input, and always ends with 0.

    Real hooks are answered before the command line is imported.

    client: claude-code, codex, gemini, opencode, or git: its hooks
    more: what git hands its hook
    """
    return Outcome("This is for agents and git: they hand it their events. `memoranda connect` lets them.")


def _start_memory(call: Call, scope: str) -> None:
    """Create the memory of a project that is connected; hooks create none."""
    if scope != "user" and not os.path.lexists(call.location.path):
        Memory(call.location, "cli").close()


def _change_git(call: Call, off: bool, project: bool, dry_run: bool, yes: bool) -> Outcome:
    """Install Memoranda's hooks in the git hooks of this checkout, those of a `project` too; or remove them."""
    root = checkout_root(call.location.project or call.cwd)
    if root is None:
        raise InvalidInput("There is no git checkout here.", "Go to one.")
    if off:
        if dry_run:
            return Outcome("Nothing was changed.", dict, git_hooks.list_installed_hooks(root))
        call.agree(yes, "Remove ours from git's hooks?")
        return _git_outcome(git_hooks.uninstall_git_hooks(root), "Disconnected git.")
    command = _start_command(call, absolute=not project)
    if dry_run:
        lines = git_hooks.make_hook_block(command, alone=False).splitlines()
        return Outcome(f"Nothing was changed; this would be in {' and '.join(git_hooks.GIT_HOOKS)}:", dict, lines)
    call.agree(yes, "Add ours to git's hooks post-commit and commit-msg?")
    _start_memory(call, "local")
    said = "Connected git: each commit is in the timeline at once."
    done = git_hooks.install_git_hooks(root, command, project)
    return _git_outcome(done, said, "To undo this: memoranda connect git --off")


def _git_outcome(done: list[git_hooks.InstalledHook], message: str, *back: str) -> Outcome:
    """Return the outcome of a change of git's hooks. Raise StorageError if git refused a hook."""
    refused = [one.says for one in done if one.state == "refused"]
    if refused or not done:
        raise StorageError(
            " ".join(dict.fromkeys(refused)) or "git keeps no hooks here.", "The others are as said."
        )
    return Outcome(
        message,
        lambda: [select_fields(one, "hook", "path", "state") for one in done],
        [*(f"  {one.hook:<12} {one.state:<8} {visible(one.path)}" for one in done), *back],
    )


def _agent_place(call: Call, scope: str) -> ClientPlace:
    """Return where an agent is connected."""
    root = call.location.project or checkout_root(call.cwd) or os.path.abspath(call.cwd)
    command = _start_command(call, absolute=scope != "project")
    program = () if scope == "project" else hook_program()
    return ClientPlace(scope, root, os.path.expanduser("~"), dict(os.environ), command, program)


def _start_command(call: Call, absolute: bool) -> tuple[str, ...]:
    """Return the command that starts Memoranda: by its path in files of this machine alone, since an agent may be
    started with another PATH."""
    named = call.location.kind == "option"
    more = ("--db", call.location.path) if named else ()
    if not absolute:
        return ("memoranda", *more)
    beside = os.path.join(os.path.dirname(sys.executable), "memoranda")
    found = beside if os.access(beside, os.X_OK) else shutil.which("memoranda")
    return (os.path.abspath(found) if found else "memoranda", *more)


def _list_agents(call: Call) -> Outcome:
    """List what is installed here and which agents are connected."""
    root = call.location.project or os.path.abspath(call.cwd)
    here = ClientPlace(SCOPE_LOCAL, root, os.path.expanduser("~"), dict(os.environ), ())
    scopes: dict[str, list[str]] = {}
    for client, place in connection.list_connected(root, here.home, here.environ):
        scopes.setdefault(client.name, []).append(place.scope)
    lines, data = [], []
    for name, client in CLIENTS.items():
        program = connection.find_client_program(client, here)
        connected = scopes.get(name, [])
        state = "; ".join(f"connected: {SCOPE_WORDS[scope]}" for scope in connected) or (
            f"not connected: memoranda connect {name}" if program else ""
        )
        lines.append(f"{name:<12} {'installed' if program else 'not here ':<10} {state}".rstrip())
        data.append({"agent": name, "program": program, "connected": connected})
    checkout = checkout_root(root)
    hooks = git_hooks.list_installed_hooks(checkout) if checkout else []
    lines.append(f"{'git':<12} {'hooks':<10} {'connected' if hooks else 'not connected: memoranda connect git'}")
    data.append({"agent": GIT_CLIENT, "program": GIT_CLIENT, "connected": hooks})
    return Outcome(lines=lines, data=lambda: data)


def _carry_out(plan: connection.ConnectionPlan, act: Callable[[connection.ConnectionPlan], None]) -> None:
    try:
        act(plan)
    except EditBlocked as error:
        raise StorageError(str(error), "Look at that file, then say it again.") from None


def _scope_option(scope: str, before: str = "") -> str:
    """Return the option of a scope, with a text before it; nothing for the usual scope."""
    return "" if scope == "local" else f"{before} --{scope}"


# serve.

USUAL_PORT = 8000
OPEN_WARNING = (
    "Whoever has the address with its token can read, change and erase this memory from any machine that reaches it.",
    "Nothing on the way is encrypted. For your own use from elsewhere leave --host out, and forward the port with ssh.",
)
SERVE_HINT = "That stays until it is ended: run memoranda serve in a terminal of its own."


@verb(opens="nothing")
def serve(
    call: Call,
    *,
    port: int | None = None,
    host: Annotated[str, Shown("ADDRESS")] = "127.0.0.1",
    yes: bool = False,
) -> Outcome:
    """Show the application in a web browser on this machine, until ^C.

    port: the port (8000, or a free one where that is taken)
    host: listen on another address of this machine (127.0.0.1)
    yes: listen on an address that others reach, without asking
    """
    # its packages are an extra
    try:
        from tui.browser.server import Access, BrowserServer, application_command, is_loopback
    except ImportError:
        raise InvalidInput("What shows the application in a browser is not installed.", INSTALL_HINT) from None
    if not is_loopback(host) and not yes and not call.ask(f"Listen on {host}?", OPEN_WARNING):
        return Outcome("Nothing was started.")
    try:
        listening = _listen(host, port or USUAL_PORT)
    except Conflict:
        if port:
            raise
        listening = _listen(host, 0)
    port = listening.getsockname()[1]
    access = Access(host, port)
    place = call.location
    options = [*(["--db", place.path] if place.kind == "option" else []), *(["--look"] if place.look else [])]
    server = BrowserServer(application_command(*options), listening, access, f"{place.display_name} - Memoranda")
    name = f"[{host}]" if ":" in host else host
    address = f"http://{name}:{port}/?token={access.token}"

    def document() -> Generator[str, None, None]:
        told = f"Open {address}\nin a browser on this machine; ^C ends it."
        yield json.dumps({"address": address}) + "\n" if call.json else f"{told}\n"
        sys.stdout.flush()
        server.run()

    return Outcome(document=document)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port; on any free one for 0."""
    if port > 65535:
        raise InvalidInput("--port is a number up to 65535.", "memoranda serve --port 8765")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
            raise InvalidInput(f"{host} is no address of this machine.", "Leave --host out: 127.0.0.1.") from None
        if error.errno == errno.EADDRINUSE:
            raise Conflict(
                f"Port {port} is taken by another program.", "Without --port a free one is taken."
            ) from None
        raise StorageError(
            f"{host}:{port} cannot be listened on: {os.strerror(error.errno or 0)}.", "Name another --port."
        ) from None


# uninstall.

UNINSTALL_HINT = "Leave the application first, and every agent; then run memoranda uninstall in a shell."
UNINSTALL_PROGRAM = (
    "Then the program itself: uv tool uninstall memoranda, or pipx uninstall memoranda, or remove its environment."
)


@verb(opens="nothing")
def uninstall(call: Call, *, dry_run: bool = False, yes: bool = False) -> Outcome:
    """Take back what Memoranda wrote outside of memories: agents, git hooks, its own state; memories stay."""
    found = connection.find_installed_parts(os.path.expanduser("~"), os.environ)
    data = found.as_dict
    stays = [f"stays  {visible(path)}" for path in [*found.memories, user_settings_path()] if os.path.exists(path)]
    if found.is_empty:
        return Outcome("There is nothing of Memoranda outside of its memories.", data, [*stays, UNINSTALL_PROGRAM])
    lines = [*found.describe(), *stays]
    if dry_run:
        return Outcome("Nothing was changed; this would be taken back:", data, lines)
    call.agree(yes, "Take all of this back?", lines)
    if troubles := connection.remove_installed_parts(found):
        raise StorageError(
            " ".join(troubles), "What is left can be taken back by the same command, once that is mended."
        )
    if found.memories:
        lines.append(
            "A memory that stays is nobody's for a later installation: memoranda import --adopt --whole takes it again."
        )
    return Outcome("Taken back: agents and git are as they were.", data, [*lines, UNINSTALL_PROGRAM])
