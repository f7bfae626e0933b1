"""The doctor's look at agents: of each that was connected, whether its files are as we left them, and whether it sees
the memory."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace

from store.base.location import Location, checkout_root
from store.doors.clients.client import LOCAL
from store.doors.connect import client_health, connection, git_hooks
from store.health.finding import NOTE, OK, Finding


def examine_agents(
    location: Location, cwd: str, home: str, environ: Mapping[str, str], quick: bool
) -> Iterator[Finding]:
    """Return what is found of every connected agent, for the project of a memory or a folder; `quick` asks no agent
    itself."""
    root = location.project or checkout_root(cwd) or os.path.abspath(cwd)
    for client, place in connection.connected(root, home, environ):
        again = f"connect {client.name}" + ("" if place.scope == LOCAL else f" --{place.scope}")
        plan = connection.plan(client, place)
        if plan.in_the_way:
            yield Finding(client.name, NOTE, " ".join(plan.in_the_way), f"Then: memoranda {again}", again)
        elif plan.changes:
            files = ", ".join(change.file for change in plan.changes)
            says = f"{client.title} was connected, and what connects it is not in {files} any more."
            yield Finding(client.name, NOTE, says, f"memoranda {again}", again)
        elif not os.access(place.command[0], os.X_OK) and os.path.isabs(place.command[0]):
            says = f"{client.title} starts {place.command[0]}, which is not there any more."
            yield Finding(client.name, NOTE, says, f"memoranda {again}", again)
        elif quick:
            yield Finding(client.name, OK, f"{client.title} is connected.")
        else:
            for seen in client_health.look(client, replace(place, environ=environ)):
                yield Finding(client.name, OK if seen.state == client_health.OK else NOTE, seen.says)
    checkout = checkout_root(root)
    if checkout and git_hooks.wanted(checkout):
        hooks = git_hooks.installed(checkout)
        missing = [hook for hook in git_hooks.HOOKS if hook not in hooks]
        if missing:
            yield Finding(
                "git", NOTE, f"Ours is not in {' and '.join(missing)} any more.", "memoranda connect git", "connect git"
            )
        else:
            yield Finding("git", OK, "Git's hooks tell of each commit.")
