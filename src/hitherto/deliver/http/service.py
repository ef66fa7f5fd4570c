"""What the routes share: the memory, the settings, the keys and the counts."""

from dataclasses import dataclass, field

from fastapi import Request

from hitherto import Hitherto
from hitherto.clock import Clock, system_clock
from hitherto.deliver import telegram
from hitherto.deliver.apikeys import Keys
from hitherto.deliver.http.metrics import Metrics
from hitherto.deliver.voice.line import VoiceLine
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


# The channels that are configured: a Telegram bot, a telephone line.


@dataclass(frozen=True, slots=True)
class Channels:
    """The adapters of one service. `line` is always there: which platforms may ring is checked by their secrets."""

    telegram: telegram.Telegram | None
    line: VoiceLine
    line_tenant: str
    has_voice: bool = True
    """Whether any platform may ring at all."""

    @staticmethod
    def of(request: Request) -> "Channels":
        channels: object = request.app.state.channels
        assert isinstance(channels, Channels), "create_app puts it there"
        return channels

    def touched(self, *, tenant: str, user: str) -> None:
        """Something was recorded of this user."""
        if tenant == self.line_tenant:
            self.line.touched(user)

    def linked(self, *, tenant: str, external_id: str) -> None:
        """An id of a channel means a user from now on."""
        if tenant == self.line_tenant:
            self.line.linked(external_id)

    def forgot(self, *, tenant: str, user: str) -> None:
        """Something was forgotten of this user."""
        if tenant == self.line_tenant:
            self.line.drop(user)


def channels(service: Service) -> Channels:
    settings = service.settings
    line = VoiceLine(
        service.memory(settings.voice_tenant),
        clock=service.clock,
        persona=settings.voice_persona,
        lookups=settings.voice_lookups,
    )
    secrets = (settings.voice_secret, settings.vapi_secret, settings.retell_secret)
    return Channels(
        telegram=_telegram(service, settings),
        line=line,
        line_tenant=settings.voice_tenant,
        has_voice=any(secret is not None for secret in secrets),
    )


def _telegram(service: Service, settings: Settings) -> telegram.Telegram | None:
    if settings.telegram_secret is None:
        return None
    telegram.check_secret(settings.telegram_secret.get_secret_value())
    memory = service.memory(settings.telegram_tenant)
    bot = telegram.Bot(settings.telegram_bot, settings.telegram_username, settings.telegram_persona)
    return telegram.Telegram(memory, bot=bot, links=memory)
