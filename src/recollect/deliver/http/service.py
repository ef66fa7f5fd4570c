"""What the routes share: the memory, the settings, the keys and the counts."""

from dataclasses import dataclass, field

from fastapi import Request

from recollect import Recollect
from recollect.clock import Clock, system_clock
from recollect.deliver.apikeys import Keys
from recollect.deliver.http.metrics import Metrics
from recollect.settings import Settings


@dataclass(slots=True)
class Service:
    """One running service."""

    engine: Recollect
    settings: Settings
    keys: Keys
    metrics: Metrics = field(default_factory=Metrics)
    clock: Clock = system_clock
    _tenants: dict[str, Recollect] = field(default_factory=dict[str, Recollect])

    def memory(self, tenant: str) -> Recollect:
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
