"""The settings of an installation, each with a default, a help line and a variable `HITHERTO_<NAME>`.

They are read once, where a process starts, and passed in; nothing else reads the environment.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from hitherto.errors import InvalidInput, near

PREFIX = "HITHERTO_"
MIB = 1024 * 1024

LIBRARY = (
    "recipe",
    "model",
    "model_seconds",
    "notes_language",
    "reader",
    "pace",
    "user_tokens",
    "tenant_tokens",
    "embedder",
    "reranker",
    "tokenizer",
    "keys",
    "forgotten",
)
"""Settings that are arguments of `Hitherto` by the same name."""

Seconds = Annotated[float, Field(gt=0)]
Amount = Annotated[int, Field(ge=1)]


class Settings(BaseModel):
    """The settings of a service."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str = Field(default="./memories", description="Where the memory is: a folder, or postgresql://…")
    recipe: str = Field(default="continuity", description="The recipe of contexts that do not name one.")
    model: str | None = Field(
        default=None,
        description="The model that learns and summarises, such as openai:gpt-4.1-mini; without one, rules do.",
    )
    model_seconds: Seconds = Field(default=60.0, description="How long the model that learns may take to answer.")
    notes_language: str | None = Field(
        default=None,
        description="The language that a model's notes are written in, such as en or Catalan; without it, the conversation's.",
    )
    reader: str | None = Field(
        default=None, description="A reader that an installed package declares; it learns instead of a model."
    )
    pace: Literal["live", "pause", "session"] = Field(
        default="pause",
        description="When the model is asked: after each turn, when the conversation pauses, or when the session ends.",
    )
    user_tokens: Amount | None = Field(
        default=None,
        description="Tokens a day that learning may send and receive for one user; beyond that, rules do the work.",
    )
    tenant_tokens: Amount | None = Field(default=None, description="The same for all users of a tenant together.")
    tokenizer: str = Field(default="o200k", description="The tokenizer family of the model that will answer.")
    embedder: str | None = Field(
        default=None, description="What makes vectors: static (the default), onnx:e5-small-v2, openai:MODEL@URL …"
    )
    reranker: str | None = Field(default=None, description="What reranks search results: onnx; nothing by default.")

    master_key: SecretStr | None = Field(
        default=None,
        description="The master key of encryption at rest (64 hexadecimal digits); without one, nothing is encrypted.",
    )
    master_key_file: str | None = Field(default=None, description="A file that contains the master key.")
    keys: str | None = Field(
        default=None,
        description="The folder of users' wrapped keys; by default beside the data folder, with .keys after its name.",
    )
    forgotten: str | None = Field(
        default=None,
        description="The file that records, by hashes, what was forgotten, so that no backup brings it back; by default"
        " forgotten.jsonl in a data folder.",
    )

    redis: SecretStr | None = Field(
        default=None,
        description="A Redis that all processes share (redis://…), so that workers wake at once and keep out of each other's"
        " way; without it, or while it is away, the database does that more slowly.",
    )

    host: str = Field(
        default="127.0.0.1", description="The address to listen on; one that is not loopback needs a key."
    )
    port: int = Field(default=8080, ge=0, le=65_535, description="The port to listen on; 0 takes a free one.")
    workers: Amount = Field(default=1, description="Processes that serve.")
    mcp_hosts: str | None = Field(
        default=None,
        description="Host names, separated by commas, under which a proxy passes requests on to /mcp; by default only"
        " loopback's own if the service listens there.",
    )
    upstream: str | None = Field(
        default=None, description="The OpenAI-compatible server that chat requests are passed on to."
    )
    upstream_key: SecretStr | None = Field(default=None, description="The key to the upstream server.")
    upstream_persona: str | None = Field(
        default=None, description="The persona that answers chat requests that do not name one."
    )
    upstream_seconds: Seconds = Field(
        default=600.0, description="How long the upstream server may take for the next piece of an answer."
    )
    upstream_streams: Amount = Field(
        default=256, description="Chat requests that one process forwards at the same time; further ones get 503."
    )

    concurrency: Amount = Field(default=2, description="Requests that one process works on at the same time.")
    waiting: int = Field(default=32, ge=0, description="Requests that may wait for their turn; further ones get 503.")
    patience_seconds: Seconds = Field(
        default=0.2,
        description="How long a request waits for its turn before it gets 503; under lasting overload, as long as an answer"
        " takes, but at least a tenth of this.",
    )
    rate: float = Field(
        default=100.0, ge=0, description="Requests a second for each key, over all processes; 0 means no limit."
    )
    burst: Amount = Field(default=200, description="Requests that a key may send at once.")

    body_limit: Amount = Field(default=4 * MIB, description="The largest request body, in bytes.")
    import_limit: Amount = Field(default=256 * MIB, description="The largest file that can be imported, in bytes.")
    buffer_limit: Amount = Field(
        default=64 * MIB, description="Request bodies that one process holds in memory, in bytes."
    )
    body_seconds: Seconds = Field(default=10.0, description="How long a request body may take to arrive.")
    send_seconds: Seconds = Field(default=30.0, description="How long a client may take to read a piece of the answer.")
    stop_seconds: Amount = Field(
        default=20, description="How long running requests may take to finish when the service stops."
    )

    key_seconds: float = Field(
        default=1.0,
        ge=0,
        description="How long a checked key is trusted before it is checked again; a revoked key works no longer than this.",
    )
    run_key: SecretStr | None = Field(
        default=None, description="The digest of a key that is valid for this run alone (set by `serve`)."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="What is logged.")
    backups: str | None = Field(
        default=None, description="The folder for backups made over HTTP; without it, they are refused."
    )

    telegram_secret: SecretStr | None = Field(
        default=None, description="The secret token of the Telegram webhook; without it, the webhook is closed."
    )
    telegram_bot: int = Field(
        default=0, description="The id of the Telegram bot (the number before the colon of its token)."
    )
    telegram_username: str | None = Field(default=None, description="The Telegram bot's name, without @.")
    telegram_persona: str | None = Field(default=None, description="The persona that speaks on Telegram.")
    telegram_tenant: str = Field(default="default", description="The tenant whose users write on Telegram.")

    voice_tenant: str = Field(default="default", description="The tenant whose users call.")
    voice_persona: str | None = Field(default=None, description="The persona that speaks on the telephone.")
    voice_lookups: int = Field(
        default=5, ge=0, description="How often an agent may search the memory during one call; 0 closes the tool."
    )
    voice_secret: SecretStr | None = Field(
        default=None,
        description="What ElevenLabs' initiation webhook sends as X-Hitherto-Secret; without it, the webhook is closed.",
    )
    elevenlabs_secret: SecretStr | None = Field(
        default=None,
        description="The secret that signs ElevenLabs' post-call webhook; without it, the webhook is closed.",
    )
    vapi_secret: SecretStr | None = Field(
        default=None, description="The secret of Vapi's server URL; without it, the URL is closed."
    )
    vapi_assistant: str | None = Field(
        default=None, description="The Vapi assistant that answers; by default the one that was called."
    )
    retell_secret: SecretStr | None = Field(
        default=None, description="The API key that signs Retell's webhooks; without it, they are closed."
    )

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """The settings that these variables hold; an empty variable counts as unset."""
        given = {name: environ.get(variable(name), "") for name in cls.model_fields}
        try:
            return cls.model_validate({name: value for name, value in given.items() if value})
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0])
            shown = "" if "SecretStr" in str(cls.model_fields[name].annotation) else f"={given[name]!r}"
            raise InvalidInput(f"{variable(name)}{shown} cannot be used: {first['msg']}") from error

    def library(self) -> dict[str, Any]:
        """The library's own settings as arguments of `Hitherto`: the same for the service, workers and commands."""
        plain = {name: getattr(self, name) for name in LIBRARY}
        return {**plain, "master_key": self.found_master_key()}

    @classmethod
    def of_library(cls, environ: Mapping[str, str]) -> Self:
        """Reads the library's settings and ignores the rest of the environment."""
        names = (*LIBRARY, "master_key", "master_key_file", "redis")
        return cls.read({variable(name): environ.get(variable(name), "") for name in names})

    def found_master_key(self) -> str | None:
        """The master key itself, wherever it is kept; None if nothing is encrypted."""
        if self.master_key_file is None:
            return None if self.master_key is None else self.master_key.get_secret_value()
        try:
            return Path(self.master_key_file).read_text("utf-8")
        except OSError as error:
            raise InvalidInput(f"{variable('master_key_file')}: {error.strerror}") from error

    def found_redis(self) -> str | None:
        """The Redis URL itself, including any password."""
        return None if self.redis is None else self.redis.get_secret_value()

    def environment(self) -> dict[str, str]:
        """The variables that reproduce these settings, for processes started from this one."""
        return {
            variable(name): value.get_secret_value() if isinstance(value, SecretStr) else str(value)
            for name, value in ((name, getattr(self, name)) for name in type(self).model_fields)
            if value is not None
        }


def variable(name: str) -> str:
    return PREFIX + name.upper()


def given(pairs: Iterable[str]) -> dict[str, str]:
    """Settings written as name=value, converted to the variables that would set them."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        name = name.strip().replace("-", "_").lower().removeprefix(PREFIX.lower())
        if not mark:
            raise InvalidInput(f"--set {pair!r} is not a setting and its value; write it as name=value")
        if name not in Settings.model_fields:
            raise InvalidInput(
                f"there is no setting {name!r}{near(name, Settings.model_fields)}; `hitherto settings` lists them"
            )
        found[variable(name)] = value
    return found


def mistaken(environ: Mapping[str, str]) -> list[str]:
    """Variables that look like misspelt settings, each with the setting that was probably meant."""
    known = {variable(name) for name in Settings.model_fields}
    unknown = (name for name in sorted(environ) if name.startswith(PREFIX) and name not in known)
    closest = ((name, get_close_matches(name, known, n=1, cutoff=0.85)) for name in unknown)
    return [f"{name} sets nothing; did you mean {meant[0]}?" for name, meant in closest if meant]
