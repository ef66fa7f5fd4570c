"""Entities and their links as a drawing: who is mentioned together. The layout is a spring model without chance, so the same
entities always stand in the same places."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import cos, hypot, pi, sin, sqrt

from hitherto.types import Entity

WIDTH, HEIGHT = 720, 420
MARGIN = 60
MOST = 30
"""Entities of one drawing; beyond, a drawing says nothing."""
ROUNDS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    ref: str
    label: str
    type: str
    mentions: int
    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """Two entities that `count` memories name together."""

    a: Node
    b: Node
    count: int
    width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int
    width: int = WIDTH
    height: int = HEIGHT


def graph(entities: Sequence[Entity], named: Iterable[Sequence[str]]) -> Graph:
    """The drawing. `named` are the references that each memory, episode or loop names."""
    mentions: Counter[str] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for refs in named:
        several = sorted(set(refs))
        mentions.update(several)
        together.update(combinations(several, 2))
    known = {entity.key: entity for entity in entities if entity.key and entity.merged_into is None}
    ranked = sorted(known, key=lambda ref: (-mentions[ref], ref))
    shown = ranked[:MOST]
    links = {pair: count for pair, count in together.items() if pair[0] in shown and pair[1] in shown}
    places = _settled(shown, links)
    nodes = {
        ref: Node(
            ref=ref,
            label=known[ref].label or ref,
            type=known[ref].type,
            mentions=mentions[ref],
            x=round(places[ref][0], 1),
            y=round(places[ref][1], 1),
            radius=round(9 + 3 * sqrt(mentions[ref]), 1),
        )
        for ref in shown
    }
    edges = tuple(
        Edge(a=nodes[a], b=nodes[b], count=count, width=min(6.0, 1.0 + count * 0.8))
        for (a, b), count in sorted(links.items())
    )
    return Graph(nodes=tuple(nodes.values()), edges=edges, left_out=len(ranked) - len(shown))


def _settled(refs: Sequence[str], links: Mapping[tuple[str, str], int]) -> dict[str, tuple[float, float]]:
    """Where everybody stands when springs pull those who are linked and all push each other away."""
    count = max(1, len(refs))
    at = {ref: (cos(2 * pi * n / count), sin(2 * pi * n / count)) for n, ref in enumerate(refs)}
    ideal = sqrt(4.0 / count)
    for turn in range(ROUNDS):
        heat = 0.15 * (1 - turn / ROUNDS)
        moved = dict.fromkeys(refs, (0.0, 0.0))
        for a, b in combinations(refs, 2):
            dx, dy = at[a][0] - at[b][0], at[a][1] - at[b][1]
            apart = max(0.01, hypot(dx, dy))
            pull = links.get((a, b) if a < b else (b, a), 0)
            force = ideal * ideal / apart - (apart * apart / ideal) * min(pull, 3) * 0.5 - apart * 0.08
            fx, fy = dx / apart * force, dy / apart * force
            moved[a] = (moved[a][0] + fx, moved[a][1] + fy)
            moved[b] = (moved[b][0] - fx, moved[b][1] - fy)
        for ref, (fx, fy) in moved.items():
            length = max(0.01, hypot(fx, fy))
            step = min(length, heat) / length
            at[ref] = (at[ref][0] + fx * step, at[ref][1] + fy * step)
    return _fitted(at)


def _fitted(at: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The places stretched to the drawing's size."""
    if not at:
        return {}
    left, right = min(x for x, _ in at.values()), max(x for x, _ in at.values())
    top, bottom = min(y for _, y in at.values()), max(y for _, y in at.values())

    def scaled(value: float, low: float, high: float, room: int) -> float:
        return room / 2 if high - low < 1e-6 else MARGIN + (room - 2 * MARGIN) * (value - low) / (high - low)

    return {ref: (scaled(x, left, right, WIDTH), scaled(y, top, bottom, HEIGHT)) for ref, (x, y) in at.items()}
