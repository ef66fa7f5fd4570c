"""Which function makes which section: one visible table, from an id to its candidates, best first."""

from collections.abc import Callable, Mapping
from typing import Final

from hitherto.assemble.candidates import Candidate, Desk
from hitherto.assemble.sections import given
from hitherto.assemble.sections import memories as remembered
from hitherto.assemble.sections import summaries as told
from hitherto.assemble.sections.situation import situation
from hitherto.recipes.titles import SectionId


def nothing(desk: Desk) -> list[Candidate]:
    """Filled by the history, once it is known which turns are left out."""
    return []


SECTIONS: Final[Mapping[SectionId, Callable[[Desk], list[Candidate]]]] = {
    "policy": given.policy,
    "persona": given.persona,
    "boundaries": given.boundaries,
    "augmentations": given.augmentations,
    "notice": given.notice,
    "relationship": given.relationship,
    "situation": situation,
    "working": told.moments,
    "earlier": nothing,
    "last_time": told.last_time,
    "today": told.today,
    "loops": remembered.loops,
    "inner_life": remembered.inner_life,
    "long_term": remembered.long_term,
    "foundation": remembered.foundation,
    "memories": remembered.memories,
    "spine": told.spine,
    "rolling": told.rolling,
    "lane_summary": told.lane_summary,
    "other_lanes": told.other_lanes,
    "requests": remembered.requests,
    "task_state": given.task_state,
    "style": given.style,
}
