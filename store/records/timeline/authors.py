"""Who the person is among the authors of a repository's commits."""

from store.database.database import Database
from store.git.process import printed
from store.records.timeline import releases


def own_name(database: Database) -> str:
    """Return the name under which the person commits to the repository that a project's memory is in, after the
    mailmap; empty where git has none."""
    source = releases.repository(database)
    if source is None:
        return ""
    # of several values of a setting the last counts
    lines = printed(source.root, "config", "--get-regexp", r"^user\.").splitlines()
    said = dict(line.partition(" ")[::2] for line in lines)  # a setting may have no value, or one of several lines
    name, email = said.get("user.name", ""), said.get("user.email", "")
    mapped = printed(source.root, "check-mailmap", f"{name} <{email}>") if name and email else ""
    return mapped.rpartition(" <")[0] or name
