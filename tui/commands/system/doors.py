"""connect, disconnect, plugin, hook: set up how agents reach the memory."""

import os
import shutil
import sys

from store.base.errors import Declined, InvalidInput, StorageError
from tui.commands import Outcome, Session
from tui.theme.escape import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from store.doors.clients.client import Place as AgentPlace
    from store.doors.connect.connection import ConnectionPlan
    from store.doors.connect.git_hooks import InstalledHook
    from tui.input.argument_parser import ParsedArguments


GIT = "git"
WHERE = {"local": "this project, for you alone", "project": "this project, for everybody", "user": "you, everywhere"}


def connect(session: Session, given: "ParsedArguments") -> Outcome:
    from store.doors.clients.registry import CLIENTS
    from store.doors.connect import client_health
    from store.doors.connect import connection as agent_connection

    if not given.agent:
        return _listed(session)
    if given.agent == GIT:
        return _connect_git(session, given)
    client = CLIENTS[_known(given.agent)]
    place = _place(session, given)
    plan = agent_connection.plan(client, place)
    _refuse(plan)
    if plan.nothing:
        said = f"{client.title} is connected already: {WHERE[place.scope]}."
        return Outcome(said, lambda: _data(plan, given.dry_run))
    if given.dry_run:
        return Outcome(
            f"{client.title} would be connected: {WHERE[place.scope]}. Nothing was changed.",
            lambda: _data(plan, given.dry_run),
            _diff(plan),
        )
    if not given.yes and not session.ask(f"Connect {client.title}: {WHERE[place.scope]}?", _diff(plan)):
        raise Declined("Nothing was changed.")
    _start_memory(session, place.scope)
    _done(plan, agent_connection.connect)
    seen = client_health.look(client, place)
    lines = [f"  {visible(change.file)}" for change in plan.changes]
    lines += [f"{'ok  ' if one.state == 'ok' else 'note'}  {visible(one.says)}" for one in seen]
    lines += [f"then  {step}" for step in client.steps[place.scope]]
    lines.append(f"To undo this: memoranda disconnect {client.name}{_option(place.scope)}")
    return Outcome(
        f"Connected {client.title}: {WHERE[place.scope]}.",
        lambda: _data(plan) | {"seen": [{"state": one.state, "says": one.says} for one in seen]},
        lines,
    )


def disconnect(session: Session, given: "ParsedArguments") -> Outcome:
    from store.doors.clients.registry import CLIENTS
    from store.doors.connect import connection as agent_connection

    if given.agent == GIT:
        return _disconnect_git(session, given)
    client = CLIENTS[_known(given.agent)]
    place = _place(session, given)
    plan = agent_connection.unplan(client, place)
    if not plan.changes and not plan.in_the_way:
        return Outcome(
            f"{client.title} is not connected here{_option(place.scope, ', with')}.", lambda: _data(plan, given.dry_run)
        )
    if given.dry_run:
        return Outcome("Nothing was changed.", lambda: _data(plan, given.dry_run), _diff(plan))
    if not given.yes and not session.ask(f"Disconnect {client.title}?", _diff(plan)):
        raise Declined("Nothing was changed.")
    _done(plan, agent_connection.disconnect)
    if plan.in_the_way:
        raise StorageError(" ".join(plan.in_the_way), "The rest is as it was; look at that file, then say it again.")
    return Outcome(f"Disconnected {client.title}; its files are as they were.", lambda: _data(plan))


def plugin(session: Session, given: "ParsedArguments") -> Outcome:
    from store.doors.connect import claude_plugin

    folder = os.path.abspath(os.path.join(session.cwd, os.path.expanduser(given.folder)))
    written = claude_plugin.write(folder)
    return Outcome(
        f"Wrote a plugin of Claude Code to {visible(folder)}.",
        lambda: {"folder": folder, "files": written},
        [*(f"  {name}" for name in written), f"Try it: claude --plugin-dir {visible(folder)}"],
    )


def hook(session: Session, given: "ParsedArguments") -> Outcome:
    """Explain how to run a hook; real hooks are answered before the command line is imported."""
    return Outcome("This is for agents and git: they hand it their events. `memoranda connect` lets them.")


def _known(agent: str) -> str:
    """Return the name of an agent that can be connected. Raises InvalidInput."""
    from store.doors.clients.registry import CLIENTS

    if agent not in CLIENTS:
        raise InvalidInput(f"There is no agent “{visible(agent[:40])}” that we know.", f"One of: {', '.join(CLIENTS)}.")
    return agent


def _start_memory(session: Session, scope: str) -> None:
    """Create the memory of a project that is connected; hooks create none."""
    from store.memory import Memory

    if scope != "user" and not os.path.lexists(session.location.path):
        Memory(session.location, "cli").close()


def _connect_git(session: Session, given: "ParsedArguments") -> Outcome:
    """Install Memoranda's hooks in the git hooks of this checkout."""
    from store.doors.connect import git_hooks

    root = _checkout(session)
    if given.dry_run:
        command = _command(session, absolute=not given.project)
        lines = git_hooks.block(command, alone=False).splitlines()
        return Outcome(f"Nothing was changed; this would be in {' and '.join(git_hooks.HOOKS)}:", dict, lines)
    if not given.yes and not session.ask("Add ours to git's hooks post-commit and commit-msg?"):
        raise Declined("Nothing was changed.")
    _start_memory(session, "local")
    done = git_hooks.install(root, _command(session, absolute=not given.project), given.project)
    said = "Connected git: each commit is in the timeline at once."
    return _told_of_git(done, said, "To undo this: memoranda disconnect git")


def _disconnect_git(session: Session, given: "ParsedArguments") -> Outcome:
    from store.doors.connect import git_hooks

    root = _checkout(session)
    if given.dry_run:
        return Outcome("Nothing was changed.", dict, git_hooks.installed(root))
    if not given.yes and not session.ask("Remove ours from git's hooks?"):
        raise Declined("Nothing was changed.")
    return _told_of_git(git_hooks.uninstall(root), "Disconnected git.")


def _told_of_git(done: "list[InstalledHook]", message: str, *back: str) -> Outcome:
    refused = [one.says for one in done if one.state == "refused"]
    if refused or not done:
        raise StorageError(" ".join(dict.fromkeys(refused)) or "git keeps no hooks here.", "The others are as said.")
    return Outcome(
        message,
        lambda: [{"hook": one.hook, "path": one.path, "state": one.state} for one in done],
        [*(f"  {one.hook:<12} {one.state:<8} {visible(one.path)}" for one in done), *back],
    )


def _checkout(session: Session) -> str:
    """Return the root of the checkout. Raises InvalidInput."""
    from store.base.location import checkout_root

    root = checkout_root(session.location.project or session.cwd)
    if root is None:
        raise InvalidInput("There is no git checkout here.", "Go to one.")
    return root


def _place(session: Session, given: "ParsedArguments") -> "AgentPlace":
    from store.base.location import checkout_root
    from store.doors.clients import client as agent_clients
    from store.doors.clients.client import Place as AgentPlace

    if given.project and given.user:
        raise InvalidInput("It is one of --project and --user.", "Without either: this project, for you alone.")
    scope = "project" if given.project else "user" if given.user else "local"
    root = session.location.project or checkout_root(session.cwd) or os.path.abspath(session.cwd)
    home = os.path.expanduser("~")
    shared = scope == "project"
    program = () if shared else agent_clients.hook_program()
    return AgentPlace(scope, root, home, dict(os.environ), _command(session, absolute=not shared), program)


def _command(session: Session, absolute: bool) -> tuple[str, ...]:
    """Return the command that starts Memoranda: by its path in files of this machine alone, since an agent may be
    started with another PATH."""
    named = session.location.kind == "option"
    more = ("--db", session.location.path) if named else ()
    if not absolute:
        return ("memoranda", *more)
    beside = os.path.join(os.path.dirname(sys.executable), "memoranda")
    found = beside if os.access(beside, os.X_OK) else shutil.which("memoranda")
    return (os.path.abspath(found) if found else "memoranda", *more)


def _listed(session: Session) -> Outcome:
    """List what is installed here and which agents are connected."""
    from store.base.location import checkout_root
    from store.doors.clients import client as agent_clients
    from store.doors.clients.client import Place as AgentPlace
    from store.doors.clients.registry import CLIENTS
    from store.doors.connect import client_health, git_hooks
    from store.doors.connect import connection as agent_connection

    root = session.location.project or os.path.abspath(session.cwd)
    here = AgentPlace(agent_clients.LOCAL, root, os.path.expanduser("~"), dict(os.environ), ())
    scopes: dict[str, list[str]] = {}
    for client, place in agent_connection.connected(root, here.home, here.environ):
        scopes.setdefault(client.name, []).append(place.scope)
    lines, data = [], []
    for name in CLIENTS:
        client = CLIENTS[name]
        program = client_health.program(client, here)
        connected = scopes.get(name, [])
        state = "; ".join(f"connected: {WHERE[scope]}" for scope in connected) or (
            f"not connected: memoranda connect {name}" if program else ""
        )
        lines.append(f"{name:<12} {'installed' if program else 'not here ':<10} {state}".rstrip())
        data.append({"agent": name, "program": program, "connected": connected})
    checkout = checkout_root(root)
    hooks = git_hooks.installed(checkout) if checkout else []
    lines.append(f"{'git':<12} {'hooks':<10} {'connected' if hooks else 'not connected: memoranda connect git'}")
    data.append({"agent": GIT, "program": GIT, "connected": hooks})
    return Outcome(lines=lines, data=lambda: data)


def _refuse(plan: "ConnectionPlan") -> None:
    if plan.in_the_way:
        raise StorageError(" ".join(plan.in_the_way), "Nothing was changed.")


def _done(plan: "ConnectionPlan", act: "Callable[[ConnectionPlan], None]") -> None:
    from store.doors.connect.config_edit import InTheWay

    try:
        act(plan)
    except InTheWay as error:
        raise StorageError(str(error), "Look at that file, then say it again.") from None


def _option(scope: str, before: str = "") -> str:
    return "" if scope == "local" else f"{before} --{scope}"


def _diff(plan: "ConnectionPlan") -> list[str]:
    lines: list[str] = []
    for change in plan.changes:
        lines += map(visible, change.diff)
    return lines


def _data(plan: "ConnectionPlan", dry_run: bool = False) -> dict[str, object]:
    return {
        "agent": plan.client.name,
        "scope": plan.place.scope,
        "dry_run": dry_run,
        "changed": [{"file": change.file, "diff": change.diff} for change in plan.changes],
        "in_the_way": plan.in_the_way,
    }
