"""The parts of the tests that run only where they are asked for by their mark."""

import pytest

APART = ("browser", "clients", "faults", "inspector", "install", "live", "postgres", "power", "wheels", "whole")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A part that was skipped whole, since Chromium, npm or a model is missing, did not pass."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if exitstatus or reporter is None or session.config.getoption("markexpr") not in APART:
        return
    if reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
