"""connect, disconnect, plugin, hook: set up how agents reach the memory."""

from __future__ import annotations

import errno
import json
import os
import shutil
import socket
import sys
from collections.abc import Callable, Generator
from dataclasses import asdict

from store.base.clock import format_local_time, utc_now
from store.base.errors import Conflict, Declined, InvalidInput, NotFound, NotOurs, StorageError
from store.base.location import checkout_root
from store.config.configuration import user_settings_path
from store.doors.agent_log import (
    AgentActivity,
    AgentCall,
    Injection,
    get_injection,
    list_agent_activity,
    list_agent_calls,
    list_injections,
)
from store.doors.client import CLIENTS, SCOPE_LOCAL, ClientPlace, hook_program, write_claude_plugin
from store.doors.config_edit import EditBlocked
from store.doors.connection import (
    ConnectionPlan,
    Removal,
    apply_connection,
    apply_disconnection,
    ask_client,
    find_client_program,
    find_installed_parts,
    list_connected,
    plan_connection,
    plan_disconnection,
    remove_installed_parts,
)
from store.doors.git_hooks import (
    GIT_HOOKS,
    InstalledHook,
    install_git_hooks,
    list_installed_hooks,
    make_hook_block,
    uninstall_git_hooks,
)
from store.doors.trust import pause_doors, resume_doors
from store.memory import Memory
from tui.browser import INSTALL_HINT
from tui.commands.call import Outcome, Session, absolute_path
from tui.input.arguments import ParsedArguments
from tui.render.details import activity_lines, agent_call_line, injection_line
from tui.theme.escape import visible

# mcp, agents, pause.

LONGEST_PAUSE_MINUTES = 24 * 60  # maximum minutes of a pause

NO_AGENT_YET = (
    "No agent asked for anything here yet: memoranda connect lists those that can be connected. What agents wrote"
    " is in facts, timeline and inbox, each with its name."
)


def mcp(session: Session, given: ParsedArguments) -> Outcome:
    """Serve the memory to an agent over standard input and output."""
    if session.location.look:
        reason = f"{session.location.path} is only looked at: no agent is served from it."
        raise NotOurs(reason, "memoranda import --adopt")
    if session.application is not None:
        raise InvalidInput(
            "This is started by an agent, which speaks to it in JSON; there is nothing here for a person to type.",
            "See docs/agents.md for how to set it up.",
        )
    from store.doors.mcp_opening import serve_mcp_client  # the types of the protocol take pydantic, 150 ms

    serve_mcp_client(session.location, given.session)
    return Outcome()


def pause(session: Session, given: ParsedArguments) -> Outcome:
    path = session.location.path
    if given.off:
        resume_doors(path)
        return Outcome("Agents are served again.", lambda: {"paused_until": None})
    if not 1 <= given.minutes <= LONGEST_PAUSE_MINUTES:
        raise InvalidInput(
            f"A pause lasts from 1 to {LONGEST_PAUSE_MINUTES:,} minutes.", "memoranda pause --minutes 60"
        )
    until = pause_doors(path, utc_now(), given.minutes)
    said = f"No agent is sent anything of this memory, and none can write, until {format_local_time(until)}."
    return Outcome(f"{said} memoranda pause --off ends it.", lambda: {"paused_until": until})


def agents(session: Session, given: ParsedArguments) -> Outcome:
    memory = session.memory
    now = memory.now
    found = list_agent_activity(memory.database, now)
    wanted = given.agent or ""
    if wanted.isascii() and wanted.isdigit():
        return _show_injection(get_injection(memory.database, int(wanted)))
    if wanted:
        one = next((each for each in found if wanted == each.agent or wanted in each.clients), None)
        if one is None:
            raise NotFound(f"No agent called “{wanted[:40]}” was here.", "List them: memoranda agents")
        clients = one.clients
        found = [one]
    else:
        clients = ("",)
    did = [call for client in clients for call in list_agent_calls(memory.database, client, given.limit)]
    sent = [each for client in clients for each in list_injections(memory.database, client, given.limit)]
    lines = [line for each in found for line in activity_lines(each, now)]
    if wanted:
        lines += ["", "CALLS, newest first", *(agent_call_line(call, now) for call in did)]
        lines += [
            "",
            "SENT, newest first; memoranda agents NUMBER shows one",
            *(injection_line(one, now) for one in sent),
        ]
    if not lines:
        lines = [NO_AGENT_YET]
    return Outcome(lines=lines, data=lambda: _activity_json(found, did, sent, bool(wanted)))


def _activity_json(found: list[AgentActivity], did: list[AgentCall], sent: list[Injection], whole: bool) -> object:
    rows = [asdict(one) for one in found]
    if not whole:
        return rows
    return {**rows[0], "calls": [asdict(one) for one in did], "sent": [asdict(one) for one in sent]}


def _show_injection(one: Injection) -> Outcome:
    lines = [
        f"{one.client}, {format_local_time(one.at)}, {one.event}, {one.tokens:,} tokens, session {one.session or '-'}"
    ]
    lines += [f"because of: {one.question}"] if one.question else []
    lines += ["", *one.text.split("\n"), ""]
    for citation, why in one.why.items():
        lines.append(f"{citation}  {why}{', used by the reply' if citation in one.used else ''}")
    return Outcome(lines=[visible(line) for line in lines], data=lambda: asdict(one))


GIT_CLIENT = "git"
SCOPE_WORDS = {
    "local": "this project, for you alone",
    "project": "this project, for everybody",
    "user": "you, everywhere",
}


def connect(session: Session, given: ParsedArguments) -> Outcome:
    if not given.agent:
        return _list_agents(session)
    if given.agent == GIT_CLIENT:
        return _connect_git(session, given)
    client = CLIENTS[_parse_agent(given.agent)]
    place = _agent_place(session, given)
    plan = plan_connection(client, place)
    _refuse_if_blocked(plan)
    if plan.is_empty:
        said = f"{client.title} is connected already: {SCOPE_WORDS[place.scope]}."
        return Outcome(said, lambda: _connection_json(plan, given.dry_run))
    if given.dry_run:
        return Outcome(
            f"{client.title} would be connected: {SCOPE_WORDS[place.scope]}. Nothing was changed.",
            lambda: _connection_json(plan, given.dry_run),
            _plan_diff(plan),
        )
    if not given.yes and not session.ask(f"Connect {client.title}: {SCOPE_WORDS[place.scope]}?", _plan_diff(plan)):
        raise Declined("Nothing was changed.")
    _start_memory(session, place.scope)
    _carry_out(plan, apply_connection)
    seen = ask_client(client, place)
    lines = [f"  {visible(change.file)}" for change in plan.changes]
    lines += [f"{'ok  ' if one.state == 'ok' else 'note'}  {visible(one.says)}" for one in seen]
    lines += [f"then  {step}" for step in client.steps[place.scope]]
    lines.append(f"To undo this: memoranda disconnect {client.name}{_scope_option(place.scope)}")
    return Outcome(
        f"Connected {client.title}: {SCOPE_WORDS[place.scope]}.",
        lambda: _connection_json(plan) | {"seen": [{"state": one.state, "says": one.says} for one in seen]},
        lines,
    )


def disconnect(session: Session, given: ParsedArguments) -> Outcome:
    if given.agent == GIT_CLIENT:
        return _disconnect_git(session, given)
    client = CLIENTS[_parse_agent(given.agent)]
    place = _agent_place(session, given)
    plan = plan_disconnection(client, place)
    if not plan.changes and not plan.in_the_way:
        return Outcome(
            f"{client.title} is not connected here{_scope_option(place.scope, ', with')}.",
            lambda: _connection_json(plan, given.dry_run),
        )
    if given.dry_run:
        return Outcome("Nothing was changed.", lambda: _connection_json(plan, given.dry_run), _plan_diff(plan))
    if not given.yes and not session.ask(f"Disconnect {client.title}?", _plan_diff(plan)):
        raise Declined("Nothing was changed.")
    _carry_out(plan, apply_disconnection)
    if plan.in_the_way:
        raise StorageError(
            " ".join(plan.in_the_way), "The rest is as it was; look at that file, then say it again."
        )
    return Outcome(f"Disconnected {client.title}; its files are as they were.", lambda: _connection_json(plan))


def plugin(session: Session, given: ParsedArguments) -> Outcome:
    folder = absolute_path(session, given.folder)
    written = write_claude_plugin(folder)
    return Outcome(
        f"Wrote a plugin of Claude Code to {visible(folder)}.",
        lambda: {"folder": folder, "files": written},
        [*(f"  {name}" for name in written), f"Try it: claude --plugin-dir {visible(folder)}"],
    )


def hook(session: Session, given: ParsedArguments) -> Outcome:
    """Explain how to run a hook; real hooks are answered before the command line is imported."""
    return Outcome("This is for agents and git: they hand it their events. `memoranda connect` lets them.")


def _parse_agent(agent: str) -> str:
    """Return the name of an agent that can be connected. Raises InvalidInput."""
    if agent not in CLIENTS:
        raise InvalidInput(
            f"There is no agent “{visible(agent[:40])}” that we know.", f"One of: {', '.join(CLIENTS)}."
        )
    return agent


def _start_memory(session: Session, scope: str) -> None:
    """Create the memory of a project that is connected; hooks create none."""
    if scope != "user" and not os.path.lexists(session.location.path):
        Memory(session.location, "cli").close()


def _connect_git(session: Session, given: ParsedArguments) -> Outcome:
    """Install Memoranda's hooks in the git hooks of this checkout."""
    root = _checkout(session)
    if given.dry_run:
        command = _start_command(session, absolute=not given.project)
        lines = make_hook_block(command, alone=False).splitlines()
        return Outcome(f"Nothing was changed; this would be in {' and '.join(GIT_HOOKS)}:", dict, lines)
    if not given.yes and not session.ask("Add ours to git's hooks post-commit and commit-msg?"):
        raise Declined("Nothing was changed.")
    _start_memory(session, "local")
    done = install_git_hooks(root, _start_command(session, absolute=not given.project), given.project)
    said = "Connected git: each commit is in the timeline at once."
    return _git_outcome(done, said, "To undo this: memoranda disconnect git")


def _disconnect_git(session: Session, given: ParsedArguments) -> Outcome:
    root = _checkout(session)
    if given.dry_run:
        return Outcome("Nothing was changed.", dict, list_installed_hooks(root))
    if not given.yes and not session.ask("Remove ours from git's hooks?"):
        raise Declined("Nothing was changed.")
    return _git_outcome(uninstall_git_hooks(root), "Disconnected git.")


def _git_outcome(done: list[InstalledHook], message: str, *back: str) -> Outcome:
    """Return the outcome of a change of git's hooks. Raise StorageError if git refused a hook."""
    refused = [one.says for one in done if one.state == "refused"]
    if refused or not done:
        raise StorageError(
            " ".join(dict.fromkeys(refused)) or "git keeps no hooks here.", "The others are as said."
        )
    return Outcome(
        message,
        lambda: [{"hook": one.hook, "path": one.path, "state": one.state} for one in done],
        [*(f"  {one.hook:<12} {one.state:<8} {visible(one.path)}" for one in done), *back],
    )


def _checkout(session: Session) -> str:
    """Return the root of the checkout. Raises InvalidInput."""
    root = checkout_root(session.location.project or session.cwd)
    if root is None:
        raise InvalidInput("There is no git checkout here.", "Go to one.")
    return root


def _agent_place(session: Session, given: ParsedArguments) -> ClientPlace:
    if given.project and given.user:
        raise InvalidInput("It is one of --project and --user.", "Without either: this project, for you alone.")
    scope = "project" if given.project else "user" if given.user else "local"
    root = session.location.project or checkout_root(session.cwd) or os.path.abspath(session.cwd)
    home = os.path.expanduser("~")
    shared = scope == "project"
    program = () if shared else hook_program()
    return ClientPlace(scope, root, home, dict(os.environ), _start_command(session, absolute=not shared), program)


def _start_command(session: Session, absolute: bool) -> tuple[str, ...]:
    """Return the command that starts Memoranda: by its path in files of this machine alone, since an agent may be
    started with another PATH."""
    named = session.location.kind == "option"
    more = ("--db", session.location.path) if named else ()
    if not absolute:
        return ("memoranda", *more)
    beside = os.path.join(os.path.dirname(sys.executable), "memoranda")
    found = beside if os.access(beside, os.X_OK) else shutil.which("memoranda")
    return (os.path.abspath(found) if found else "memoranda", *more)


def _list_agents(session: Session) -> Outcome:
    """List what is installed here and which agents are connected."""
    root = session.location.project or os.path.abspath(session.cwd)
    here = ClientPlace(SCOPE_LOCAL, root, os.path.expanduser("~"), dict(os.environ), ())
    scopes: dict[str, list[str]] = {}
    for client, place in list_connected(root, here.home, here.environ):
        scopes.setdefault(client.name, []).append(place.scope)
    lines, data = [], []
    for name in CLIENTS:
        client = CLIENTS[name]
        program = find_client_program(client, here)
        connected = scopes.get(name, [])
        state = "; ".join(f"connected: {SCOPE_WORDS[scope]}" for scope in connected) or (
            f"not connected: memoranda connect {name}" if program else ""
        )
        lines.append(f"{name:<12} {'installed' if program else 'not here ':<10} {state}".rstrip())
        data.append({"agent": name, "program": program, "connected": connected})
    checkout = checkout_root(root)
    hooks = list_installed_hooks(checkout) if checkout else []
    lines.append(f"{'git':<12} {'hooks':<10} {'connected' if hooks else 'not connected: memoranda connect git'}")
    data.append({"agent": GIT_CLIENT, "program": GIT_CLIENT, "connected": hooks})
    return Outcome(lines=lines, data=lambda: data)


def _refuse_if_blocked(plan: ConnectionPlan) -> None:
    """Raise StorageError if something is in the way of a connection."""
    if plan.in_the_way:
        raise StorageError(" ".join(plan.in_the_way), "Nothing was changed.")


def _carry_out(plan: ConnectionPlan, act: Callable[[ConnectionPlan], None]) -> None:
    try:
        act(plan)
    except EditBlocked as error:
        raise StorageError(str(error), "Look at that file, then say it again.") from None


def _scope_option(scope: str, before: str = "") -> str:
    """Return the option of a scope, with a text before it; nothing for the usual scope."""
    return "" if scope == "local" else f"{before} --{scope}"


def _plan_diff(plan: ConnectionPlan) -> list[str]:
    """Return the differences of all files that a connection changes."""
    lines: list[str] = []
    for change in plan.changes:
        lines += map(visible, change.diff)
    return lines


def _connection_json(plan: ConnectionPlan, dry_run: bool = False) -> dict[str, object]:
    """Return a connection for scripts."""
    return {
        "agent": plan.client.name,
        "scope": plan.place.scope,
        "dry_run": dry_run,
        "changed": [{"file": change.file, "diff": change.diff} for change in plan.changes],
        "in_the_way": plan.in_the_way,
    }


# serve.

USUAL_PORT = 8000
OPEN_WARNING = (
    "Whoever has the address with its token can read, change and erase this memory from any machine that reaches it.",
    "Nothing on the way is encrypted. For your own use from elsewhere leave --host out, and forward the port with ssh.",
)
SERVE_HINT = "That stays until it is ended: run memoranda serve in a terminal of its own."


def serve(session: Session, given: ParsedArguments) -> Outcome:
    """Return a document: the address, and then the server runs until ^C. Raises InvalidInput, Conflict and
    StorageError."""
    try:  # its packages are an extra
        from tui.browser.server import Access, BrowserServer, application_command, is_loopback
    except ImportError:
        raise InvalidInput("What shows the application in a browser is not installed.", INSTALL_HINT) from None
    if not is_loopback(given.host) and not given.yes and not session.ask(f"Listen on {given.host}?", OPEN_WARNING):
        return Outcome("Nothing was started.")
    listening = _listen(given.host, given.port) if given.port else _listen_usual(given.host)
    port = listening.getsockname()[1]
    access = Access(given.host, port)
    place = session.location
    options = [*(["--db", place.path] if place.kind == "option" else []), *(["--look"] if place.look else [])]
    server = BrowserServer(application_command(*options), listening, access, f"{place.display_name} - Memoranda")
    name = f"[{given.host}]" if ":" in given.host else given.host
    address = f"http://{name}:{port}/?token={access.token}"

    def document() -> Generator[str, None, None]:
        told = f"Open {address}\nin a browser on this machine; ^C ends it."
        yield json.dumps({"address": address}) + "\n" if session.json else f"{told}\n"
        sys.stdout.flush()
        server.run()

    return Outcome(document=document)


def _listen_usual(host: str) -> socket.socket:
    """Return a socket that listens on the usual port; on any free port if it is taken."""
    try:
        return _listen(host, USUAL_PORT)
    except Conflict:
        return _listen(host, 0)


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens on a port; on any free one for 0."""
    if port > 65535:
        raise InvalidInput("--port is a number up to 65535.", "memoranda serve --port 8765")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(128)
        except BaseException:
            listening.close()
            raise
    except socket.gaierror:
        raise InvalidInput(f"{host} is no address of this machine.", "Leave --host out: 127.0.0.1.") from None
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Conflict(
                f"Port {port} is taken by another program.", "Without --port a free one is taken."
            ) from None
        if error.errno == errno.EADDRNOTAVAIL:
            raise InvalidInput(f"{host} is no address of this machine.", "Leave --host out: 127.0.0.1.") from None
        raise StorageError(
            f"{host}:{port} cannot be listened on: {error.strerror}.", "Name another --port."
        ) from None
    return listening


# uninstall.

UNINSTALL_HINT = "Leave the application first, and every agent; then run memoranda uninstall in a shell."
UNINSTALL_PROGRAM = (
    "Then the program itself: uv tool uninstall memoranda, or pipx uninstall memoranda, or remove its environment."
)


def uninstall(session: Session, given: ParsedArguments) -> Outcome:
    """Say what would be taken back, ask, and take it back. Raises Declined and StorageError."""
    found = find_installed_parts(os.path.expanduser("~"), os.environ)
    stays = [f"stays  {visible(path)}" for path in [*found.memories, user_settings_path()] if os.path.exists(path)]
    if found.is_empty:
        return Outcome(
            "There is nothing of Memoranda outside of its memories.",
            lambda: _removal_json(found),
            [*stays, UNINSTALL_PROGRAM],
        )
    lines = [*_removal_lines(found), *stays]
    if given.dry_run:
        return Outcome("Nothing was changed; this would be taken back:", lambda: _removal_json(found), lines)
    if not given.yes and not session.ask("Take all of this back?", lines):
        raise Declined("Nothing was changed.")
    if troubles := remove_installed_parts(found):
        raise StorageError(
            " ".join(troubles), "What is left can be taken back by the same command, once that is mended."
        )
    if found.memories:
        stays.append(
            "A memory that stays is nobody's for a later installation: memoranda import --adopt --whole takes it again."
        )
    return Outcome(
        "Taken back: agents and git are as they were.",
        lambda: _removal_json(found),
        [*lines, *stays[-1:], UNINSTALL_PROGRAM],
    )


def _removal_lines(found: Removal) -> list[str]:
    """Return a line for each thing that would be removed."""
    lines = []
    for plan in found.connections:
        where = "you" if plan.place.scope == "user" else plan.place.root
        lines.append(f"agent  {plan.client.title}, {visible(where)}")
        lines += [f"       {visible(change.file)}" for change in plan.changes]
        lines += [f"  !    {visible(says)}" for says in plan.in_the_way]
    lines += [f"hooks  git, {visible(root)}" for root in found.checkouts]
    if found.guard:
        lines.append(
            f"guard  every version that it kept, {visible(found.guard)}: no change before now can be put back"
        )
    lines += [f"state  {visible(folder)}" for folder in found.folders]
    return lines


def _removal_json(found: Removal) -> dict[str, object]:
    """Return what would be removed, for scripts."""
    return {
        "agents": [
            {
                "agent": plan.client.name,
                "scope": plan.place.scope,
                "files": [change.file for change in plan.changes],
            }
            for plan in found.connections
        ],
        "checkouts": found.checkouts,
        "guard": found.guard,
        "folders": found.folders,
        "memories": found.memories,
    }
