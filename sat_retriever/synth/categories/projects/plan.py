"""Draw the projects of a house: their dates, managers and pace."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from sat_retriever.synth.house.house import House
from sat_retriever.synth.house.when import When

ID = "projects"


@dataclass(frozen=True, slots=True)
class Project:
    """One project, equal in all workbooks of the house."""

    id: str
    name: str
    department: str
    manager: str
    start: date
    end: date

    def done(self, day: date) -> float:
        """Return the planned share of the work done by a day, in [0, 1]."""
        return min(max((day - self.start) / (self.end - self.start), 0.0), 1.0)


def running_in(house: House, year: int) -> tuple[Project, ...]:
    """Return the projects begun in a year, and those of the two years before that still run."""
    found = [p for begun in (year - 2, year - 1, year) for p in _begun(house, begun)]
    return tuple(p for p in found if p.end.year >= year)


def _begun(house: House, year: int) -> list[Project]:
    """Draw five projects that start in a year; ids and names continue from year to year."""
    first, count = 5 * ((year - 2015) % 60), 5
    chance = house.chance(ID, "begun", year)
    people, departments = house.pool("employees", 12), house.pool("departments", 6)
    ids = house.pool("project_ids", first + count)[first:]
    names = house.pool("projects", first + count)[first:]
    starts = sorted(date(year, 1, 4) + timedelta(chance.randint(0, 300)) for _ in range(count))
    return [
        Project(
            number,
            name,
            chance.choice(departments),
            chance.choice(people),
            start,
            start + timedelta(chance.randint(120, 800)),
        )
        for number, name, start in zip(ids, names, starts, strict=True)
    ]


def so_far(project: Project, when: When) -> float:
    """Return the planned share of the work done by the end of a year."""
    return project.done(date(when.year, 12, 31))


def pace(house: House, project: Project) -> float:
    """Return the speed of a project relative to its plan."""
    return house.chance(ID, "pace", project.id).uniform(0.7, 1.15)


def status(house: House, project: Project, when: When) -> str:
    """Return the status of a project at the end of a year."""
    if so_far(project, when) * pace(house, project) >= 1:
        return "Completed"
    return "Delayed" if pace(house, project) < 0.85 else "In Progress"
