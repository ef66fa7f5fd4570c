"""What the service counts. No label names a user, a tenant or a key."""

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one service keep their counts, so that each can answer for all."""

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)

SECONDS_NAME = "hitherto_request_seconds"

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The counts of one service."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "hitherto_requests", "Requests answered.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            SECONDS_NAME,
            "From a request's arrival to the end of its answer.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.running = Gauge(
            "hitherto_requests_running",
            "Requests that are being answered.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self.refused = Counter(
            "hitherto_requests_refused", "Requests turned away.", ("reason",), registry=self._registry
        )
        self.learning = Gauge(
            "hitherto_learning",
            "Since a process began: questions to the model that learns, tokens, notes kept and dropped.",
            ("what",),
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self.turns = Counter("hitherto_turns_recorded", "Turns recorded.", registry=self._registry)

    def answered(self, *, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> bytes:
        """The counts in Prometheus' text format, over all processes of the service."""
        return generate_latest(self._everywhere())

    def latencies(self) -> dict[str, list[tuple[float, int]]]:
        """For each route, how many requests took at most so many seconds."""
        found: dict[str, list[tuple[float, int]]] = {}
        for metric in self._everywhere().collect():
            for sample in metric.samples if metric.name == SECONDS_NAME else ():
                if sample.name == f"{SECONDS_NAME}_bucket":
                    found.setdefault(sample.labels["route"], []).append((float(sample.labels["le"]), int(sample.value)))
        return {route: sorted(buckets) for route, buckets in found.items()}

    def _everywhere(self) -> CollectorRegistry:
        if FOLDER_VARIABLE not in os.environ:
            return self._registry
        everywhere = CollectorRegistry()
        MultiProcessCollector(everywhere)
        return everywhere
