"""The demo: an invented project with a year of memory, generated on demand, to try everything without risk."""

from __future__ import annotations

import os

from store.base.errors import StorageError
from store.base.location import Location
from tui.demo.builder import Calendar, DemoProject, write_demo

DEMO_NAME = "billing-api"


def build_demo(folder: str, now: str) -> Location:
    """Create `folder/billing-api`, its git repository and its memory, which ends at `now`; return the memory's
    location.

    The same `now` gives the same shas, ids and times. Raises StorageError, also if something exists there already."""
    root = os.path.join(os.path.abspath(folder), DEMO_NAME)
    try:
        os.makedirs(root)
    except FileExistsError:
        raise StorageError(f"{root} is there already.", "Name another folder for the demo.") from None
    except OSError as error:
        raise StorageError(
            f"{root} cannot be made: {error.strerror}.", "Name another folder for the demo."
        ) from None
    calendar = Calendar(now)
    project = DemoProject(root, calendar)
    location = write_demo(root, calendar, project)
    project.check_out()
    return location
