"""A raw Bot API update → what it means to a memory. Pure: the same update always gives the same event.

What Telegram really does, and what follows for lanes:

- `message_thread_id` alone is no topic. In supergroups every reply carries it: it is the first message of the
  reply chain. Only with `is_topic_message` does it name a topic. Messages of the General topic have neither.
- In a topic, a message that replies to nothing still has `reply_to_message`: the service message that created
  the topic. That is no reply.
- In private chats and basic groups only the message replied to is named, so the chain is found in the log.
- A reply to another chat or topic comes as `external_reply` with an optional `quote`; the lane stays.
- Business chats share ids with the bot's own private chats and are other chats.
- A group that becomes a supergroup starts counting messages anew under a new id: turns keep the real id, the
  root lane and the conversation keep the old one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hitherto.deliver.telegram import content
from hitherto.deliver.telegram.events import (
    Connected,
    Deleted,
    Destination,
    Edited,
    Event,
    Ignored,
    Migrated,
    Owner,
    Posted,
)
from hitherto.deliver.untrusted import Raw, child, flag, instant, integer, integers, mapping, objects, text
from hitherto.ingest.sessions import lane, session_id
from hitherto.types import Role, Turn

_POSTS: Final = ("message", "channel_post", "business_message")
_EDITS: Final = ("edited_message", "edited_channel_post", "edited_business_message")
_NAME_LENGTH: Final = 128


@dataclass(frozen=True, slots=True)
class Bot:
    """Who we are on Telegram (`getMe`), and which persona speaks there."""

    id: int
    username: str | None = None
    persona: str | None = None


def read(update: Raw, *, bot: Bot, origins: Mapping[int, int] | None = None) -> Event:
    """What the update means. `origins` maps supergroups to the groups they were (from `Migrated` events)."""
    reader = _Reader(bot, origins or {})
    for field in _POSTS:
        if message := child(update, field):
            return reader.posted(message)
    for field in _EDITS:
        if message := child(update, field):
            event = reader.posted(message)
            return Edited(posted=event) if isinstance(event, Posted) else event
    if connection := child(update, "business_connection"):
        return _connected(connection)
    if deleted := child(update, "deleted_business_messages"):
        return reader.deleted(deleted)
    kinds = sorted(set(update) - {"update_id"})
    return Ignored(why=kinds[0] if kinds else "empty update")


def sent(message: Raw, *, bot: Bot, origins: Mapping[int, int] | None = None) -> Event:
    """What we sent ourselves: the `Message` that a send method returned. No update reports it."""
    return _Reader(bot, origins or {}).posted(message)


def chat_of(update: Raw) -> int | None:
    """The chat that an update is about, for updates about messages."""
    for field in (*_POSTS, *_EDITS):
        if message := child(update, field):
            return integer(child(message, "chat"), "id")
    return None


def turn_id(chat: int, message: int, *, business: str | None = None) -> str:
    """A message's id as a turn: the same from an update, a send or an import."""
    return f"telegram:{chat}:{message}" if business is None else f"telegram:{business}:{chat}:{message}"


def _connected(connection: Raw) -> Event:
    identity, person = text(connection, "id"), integer(child(connection, "user"), "id")
    if identity is None or person is None:
        return Ignored(why="business connection without an id")
    return Connected(connection=identity, business_user=person, enabled=flag(connection, "is_enabled"))


@dataclass(frozen=True, slots=True)
class _Reader:
    bot: Bot
    origins: Mapping[int, int]

    def posted(self, message: Raw) -> Event:
        chat, number = integer(child(message, "chat"), "id"), integer(message, "message_id")
        if chat is None or number is None:
            return Ignored(why="message without chat or id")
        if (new := integer(message, "migrate_to_chat_id")) is not None:
            return Migrated(old=chat, new=new)
        if (old := integer(message, "migrate_from_chat_id")) is not None:
            return Migrated(old=old, new=chat)
        said = content.words(message)
        if said is None:
            return Ignored(why=f"service message: {content.service(message)}")
        if number == 0:
            return Ignored(why="scheduled, not sent yet")
        return self._post(message, chat=chat, number=number, said=said)

    def deleted(self, deleted: Raw) -> Event:
        chat, business = integer(child(deleted, "chat"), "id"), text(deleted, "business_connection_id")
        if chat is None or business is None:
            return Ignored(why="deletion without chat or connection")
        turns = tuple(turn_id(chat, one, business=business) for one in integers(deleted, "message_ids"))
        return Deleted(owner=_owner(deleted, chat=chat, business=business), turns=turns)

    def _post(self, message: Raw, *, chat: int, number: int, said: str) -> Posted:
        business = text(message, "business_connection_id")
        owner = _owner(message, chat=self.origins.get(chat, chat), business=business)
        place = _Place(owner=owner, chat=chat, business=business)
        target = _reply_target(message)
        named, certain = self._lane(message, chat=chat, target=target)
        quoted, reply_to = self._quoted(message, target, place=place, named=named, number=number)
        turn = self._turn(message, place=place, number=number, said=said, named=named, reply_to=reply_to)
        return Posted(
            turn=turn,
            owner=owner,
            to=Destination(
                chat=chat,
                topic=integer(message, "message_thread_id") if flag(message, "is_topic_message") else None,
                business=business,
                direct=integer(child(message, "direct_messages_topic"), "topic_id"),
            ),
            chain=None if certain else reply_to,
            quoted=quoted,
            addressed=turn.role == "user" and self._addressed(message, target=target),
            album=text(message, "media_group_id"),
        )

    def _turn(self, message: Raw, *, place: "_Place", number: int, said: str, named: str, reply_to: str | None) -> Turn:
        role = self._role(message, place=place)
        one_to_one = place.owner.kind == "person" or (role == "user" and place.owner.kind != "chat")
        ours = role == "assistant" and integer(child(message, "from"), "id") == self.bot.id
        return Turn(
            place.owner.user,
            role,
            said,
            id=turn_id(place.chat, number, business=place.business),
            at=instant(integer(message, "date")),
            persona=self.bot.persona,
            lane=named,
            conversation=session_id(self.origins.get(place.chat, place.chat)),
            speaker=None if one_to_one or ours else _speaker(message),
            reply_to=reply_to,
            parts=content.parts(message) or None,
        )

    def _role(self, message: Raw, *, place: "_Place") -> Role:
        sender = integer(child(message, "from"), "id")
        if sender == self.bot.id or "sender_business_bot" in message:
            return "assistant"
        return "assistant" if place.business is not None and sender not in (None, place.chat) else "user"

    def _lane(self, message: Raw, *, chat: int, target: Raw) -> tuple[str, bool]:
        """The lane, and whether it is certain: without a thread id, a reply may be deeper in a chain than it says."""
        thread = integer(message, "message_thread_id")
        if flag(message, "is_topic_message") and thread is not None:
            return lane(chat, topic=thread), True
        direct = integer(child(message, "direct_messages_topic"), "topic_id")
        if direct is not None:
            return lane(chat, topic=direct), True
        replied = integer(target, "message_id")
        if replied is None:
            return lane(self.origins.get(chat, chat)), True
        if thread is not None and text(child(message, "chat"), "type") == "supergroup":
            return lane(chat, reply_root=thread), True
        return lane(chat, reply_root=replied), False

    def _quoted(
        self, message: Raw, target: Raw, *, place: "_Place", named: str, number: int
    ) -> tuple[Turn | None, str | None]:
        """The quoted message as a turn, and the id that the new turn replies to."""
        replied = integer(target, "message_id")
        if replied is not None:
            said = content.words(target)
            at_root = named == lane(place.chat, reply_root=replied)
            its_lane = lane(self.origins.get(place.chat, place.chat)) if at_root else named
            turn = said and self._turn(target, place=place, number=replied, said=said, named=its_lane, reply_to=None)
            return turn or None, turn_id(place.chat, replied, business=place.business)
        elsewhere = child(message, "external_reply")
        there = integer(elsewhere, "message_id")
        if there is not None and integer(child(elsewhere, "chat"), "id") == place.chat:
            return None, turn_id(place.chat, there, business=place.business)
        said = elsewhere and (text(child(message, "quote"), "text") or content.words(elsewhere))
        if not said:
            return None, None
        quote = Turn(
            place.owner.user,
            "user",
            str(said),
            id=f"{turn_id(place.chat, number, business=place.business)}:quote",
            at=instant(integer(message, "date")),
            persona=self.bot.persona,
            lane=named,
            conversation=session_id(self.origins.get(place.chat, place.chat)),
            speaker=_origin_name(child(elsewhere, "origin")),
            origin="import",
        )
        return quote, quote.id

    def _addressed(self, message: Raw, *, target: Raw) -> bool:
        if text(child(message, "chat"), "type") == "private":
            return True
        if integer(child(target, "from"), "id") == self.bot.id:
            return True
        said = (text(message, "text") or text(message, "caption") or "").casefold()
        entities = [*objects(message, "entities"), *objects(message, "caption_entities")]
        if any(
            integer(child(entity, "user"), "id") == self.bot.id
            for entity in entities
            if text(entity, "type") == "text_mention"
        ):
            return True
        if self.bot.username is None:
            return False
        name = f"@{self.bot.username.casefold()}"
        start = said.find(name)
        return start >= 0 and not said[start + len(name) :][:1].replace("_", "a").isalnum()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A message's chat, and whose memory that is."""

    owner: Owner
    chat: int
    business: str | None


def _reply_target(message: Raw) -> Raw:
    """The message that this one replies to; in a topic, the message that created the topic does not count."""
    target = child(message, "reply_to_message")
    if "forum_topic_created" in target:
        return mapping(None)
    if flag(message, "is_topic_message") and integer(target, "message_id") == integer(message, "message_thread_id"):
        return mapping(None)
    return target


def _owner(message: Raw, *, chat: int, business: str | None) -> Owner:
    """A private chat is the person's memory, a group its own. Business customers and people who write to a channel directly
    share a chat or its id with others, so each of them has a separate memory.
    """
    if business is not None:
        return Owner(kind="business", external_id=f"{business}:{chat}")
    topic = integer(child(message, "direct_messages_topic"), "topic_id")
    if topic is not None:
        return Owner(kind="direct", external_id=f"{chat}:{topic}")
    private = text(child(message, "chat"), "type") == "private"
    return Owner(kind="person" if private else "chat", external_id=str(chat))


def _speaker(message: Raw) -> str | None:
    """Who speaks. For messages on behalf of a chat (anonymous administrators, channels), the chat does."""
    behind = child(message, "sender_chat")
    if behind:
        return _trimmed(text(message, "author_signature") or text(behind, "title") or f"chat {behind.get('id')}")
    sender = child(message, "from")
    return _person(sender) if sender else _trimmed(text(message, "author_signature") or "")


def _person(user: Raw) -> str | None:
    full = " ".join(filter(None, (text(user, "first_name"), text(user, "last_name"))))
    return _trimmed(full or text(user, "username") or f"user {user.get('id')}")


def _origin_name(origin: Raw) -> str | None:
    """Who wrote a message that is quoted from elsewhere."""
    person = child(origin, "sender_user")
    chat = child(origin, "sender_chat") or child(origin, "chat")
    return _person(person) if person else _trimmed(text(origin, "sender_user_name") or text(chat, "title") or "")


def _trimmed(name: str) -> str | None:
    return " ".join(name.split())[:_NAME_LENGTH] or None
