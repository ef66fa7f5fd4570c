"""The table from a section's id to the function that makes its candidates, best first. Whatever is not in it is a section
of the application's own."""

from collections.abc import Callable, Mapping
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk
from hitherto.assemble.sections import application, recaps
from hitherto.assemble.sections import memories as remembered
from hitherto.assemble.sections.application import own
from hitherto.assemble.sections.situation import situation
from hitherto.recipes.titles import SectionId


def nothing(desk: Desk) -> list[Candidate]:
    """Filled by the history, once it is known which turns are left out."""
    return []


SECTIONS: Final[Mapping[SectionId, Callable[[Desk], list[Candidate]]]] = {
    "policy": application.policy,
    "persona": application.persona,
    "boundaries": application.boundaries,
    "augmentations": application.augmentations,
    "notice": application.notice,
    "relationship": application.relationship,
    "situation": situation,
    "working": recaps.moments,
    "earlier": nothing,
    "last_time": recaps.last_time,
    "today": recaps.today,
    "loops": remembered.loops,
    "inner_life": remembered.inner_life,
    "long_term": remembered.long_term,
    "foundation": remembered.foundation,
    "memories": remembered.memories,
    "spine": recaps.spine,
    "rolling": recaps.rolling,
    "lane_summary": recaps.lane_summary,
    "other_lanes": recaps.other_lanes,
    "requests": remembered.requests,
    "task_state": application.task_state,
    "style": application.style,
}


def candidates(desk: Desk) -> list[Candidate]:
    """What every section of the recipe would like to show, in order."""
    found: list[Candidate] = []
    for section in desk.recipe.order:
        make = SECTIONS.get(section)
        found += own(desk, section) if make is None else make(desk)
    return found
