"""Addresses of the inspector's pages. The user stands in the query: an id may hold any character, a path may not."""

from dataclasses import dataclass
from urllib.parse import urlencode

from hitherto.deliver.http.pages import ROOT


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses for one user."""

    user: str

    def __call__(self, page: str, **query: object) -> str:
        """The address of a page; what is None or empty is left out."""
        wanted = {"user": self.user, **query}
        given = [(name, str(value)) for name, value in wanted.items() if value is not None and value != ""]
        return f"{ROOT}/{page}?{urlencode(given)}" if given else f"{ROOT}/{page}"
