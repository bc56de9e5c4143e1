"""People who decide, and people who only look."""

import pytest

from planner_executor.graph.desk.security.people import ALL, People, Permissions
from planner_executor.graph.desk.security.visitor import Role
from planner_executor.graph.record.person import Person

NOBODY = People()


@pytest.mark.parametrize(
    ("people", "has"),
    [
        (People.of(["Ada@Example.org"]), True),
        (People.of(["ben@example.org"]), False),
        (People.of([], ["finance"]), True),
        (People.of([], ["Finance"]), False),
        (People.of(["ben@example.org"], ["staff"]), False),
        (People.of(["*"]), True),
        (People.of([], ["*"]), False),
        (ALL, True),
        (NOBODY, False),
    ],
)
def test_people_are_told_by_name_whatever_its_case_or_by_role(people: People, has: bool) -> None:
    assert people.has(Person("ada@example.org", ["finance"])) == has


@pytest.mark.parametrize(
    ("permissions", "role"),
    [
        (Permissions(), Role.REVIEWER),
        (Permissions(ALL, NOBODY), Role.REVIEWER),
        (Permissions(NOBODY, ALL), Role.READER),
        (Permissions(NOBODY, NOBODY), None),
    ],
)
def test_a_person_decides_or_looks_or_stays_outside(permissions: Permissions, role: Role | None) -> None:
    assert permissions.role_of(Person("ada")) is role
