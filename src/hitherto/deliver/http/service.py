"""What the routes share: the memory, the settings, the keys and the counts."""

from dataclasses import dataclass, field

from fastapi import Request

from hitherto import Hitherto
from hitherto.clock import Clock, system_clock
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http.metrics import Metrics
from hitherto.settings import Settings


@dataclass(slots=True)
class Service:
    """One running service."""

    engine: Hitherto
    settings: Settings
    keys: Keys
    metrics: Metrics = field(default_factory=Metrics)
    clock: Clock = system_clock
    _tenants: dict[str, Hitherto] = field(default_factory=dict[str, Hitherto])

    def memory(self, tenant: str) -> Hitherto:
        """The memory as that tenant sees it."""
        found = self._tenants.get(tenant)
        if found is None:
            found = self._tenants[tenant] = self.engine.for_tenant(tenant)
        return found

    @staticmethod
    def of(request: Request) -> "Service":
        service: object = request.app.state.service
        assert isinstance(service, Service), "create_app puts it there"
        return service
