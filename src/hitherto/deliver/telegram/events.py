"""What an update means to a memory. Each event is a plain value; nothing here talks to Telegram or to a
store.
"""

from dataclasses import dataclass, replace
from typing import Literal

from hitherto.types import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Whose memory it is. Only a person may be linked to a user of the application: a group is never a person."""

    kind: Literal["person", "chat", "business", "direct"]
    external_id: str

    @property
    def user(self) -> str:
        """The user id of an owner without a link."""
        return f"telegram:{'user' if self.kind == 'person' else self.kind}:{self.external_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where an answer goes, so that it lands in the same topic of the same chat."""

    chat: int
    topic: int | None = None
    business: str | None = None
    direct: int | None = None

    def params(self) -> dict[str, int | str]:
        """The fields of `sendMessage` that say where. A thread that is not a topic is left out, because Telegram refuses it."""
        named = {
            "message_thread_id": self.topic,
            "business_connection_id": self.business,
            "direct_messages_topic_id": self.direct,
        }
        return {"chat_id": self.chat, **{name: value for name, value in named.items() if value is not None}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """Someone wrote something.

    `chain`: the turn whose lane this one joins if it is itself part of a reply chain; Telegram did not say, the log may
    know. `quoted`: the message replied to, for a log that has never seen it. `addressed`: it was written to the bot.
    """

    turn: Turn
    owner: Owner
    to: Destination
    chain: str | None = None
    quoted: Turn | None = None
    addressed: bool = False
    album: str | None = None

    def owned_by(self, user: str) -> "Posted":
        """The same event in that user's memory."""
        quoted = self.quoted and replace(self.quoted, user=user)
        return replace(self, turn=replace(self.turn, user=user), quoted=quoted)

    def joining(self, lane: str | None) -> "Posted":
        """The same event, given the lane of the turn `chain`: a reply chain continues, other lanes start a new one."""
        if self.chain is None or lane is None or not lane.startswith("reply:"):
            return self
        return replace(self, turn=replace(self.turn, lane=lane), chain=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """Someone changed a message. `posted` is the message as it is now: a log that never saw it records it."""

    posted: Posted


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """Messages were deleted. Telegram tells bots this for business chats only."""

    owner: Owner
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """A group became a supergroup: the chat `new` continues with the memory of `old`."""

    old: int
    new: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Connected:
    """A business account connected the bot, changed its rights or left."""

    connection: str
    business_user: int
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Nothing to remember, and why."""

    why: str


Event = Posted | Edited | Deleted | Migrated | Connected | Ignored
