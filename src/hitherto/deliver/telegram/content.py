"""What a Telegram message says: its words, and references to what it carries.

Every message that is not a service message has words here, so that a photo without a caption can still be quoted, searched
and answered. Files stay with Telegram: a part holds the file's id.
"""

from typing import Final

from hitherto.deliver.untrusted import Raw, child, integer, number, objects, text
from hitherto.types import Media

_FILES: Final = {
    "animation": ("video/mp4", "animation"),
    "audio": ("audio/mpeg", "audio"),
    "document": ("application/octet-stream", "file"),
    "live_photo": ("image/jpeg", "live photo"),
    "sticker": ("image/webp", "sticker"),
    "video": ("video/mp4", "video"),
    "video_note": ("video/mp4", "video message"),
    "voice": ("audio/ogg", "voice message"),
}
"""Field → media type if the message does not say, and the words for it. An animation comes with a document too."""

_METADATA: Final = frozenset(
    {
        "author_signature", "business_connection_id", "caption", "caption_entities", "chat", "date",
        "direct_messages_topic", "edit_date", "effect_id", "entities", "external_reply", "forward_date",
        "forward_from", "forward_from_chat", "forward_from_message_id", "forward_origin",
        "forward_sender_name", "forward_signature", "from", "has_media_spoiler",
        "has_protected_content", "is_automatic_forward", "is_from_offline", "is_paid_post",
        "is_topic_message", "link_preview_options", "media_group_id", "message_id", "message_thread_id",
        "paid_star_count", "quote", "reply_markup", "reply_to_checklist_task_id", "reply_to_message",
        "reply_to_poll_option_id", "reply_to_story", "sender_boost_count", "sender_business_bot",
        "sender_chat", "sender_tag", "show_caption_above_media", "suggested_post_info", "via_bot",
    }
)  # fmt: skip


def words(message: Raw) -> str | None:
    """The message in words; None for a service message."""
    said = text(message, "text") or text(message, "caption")
    shown = _shown(message)
    if said is None:
        return shown
    return said if shown is None or _is_plain_file(message) else f"{said}\n{shown}"


def parts(message: Raw) -> tuple[Media, ...]:
    """References to the message's files; photos in the largest size that Telegram made."""
    caption = text(message, "caption") or ""
    sizes = objects(message, "photo")
    if sizes:
        largest = max(sizes, key=lambda size: (integer(size, "width") or 0) * (integer(size, "height") or 0))
        return _media(largest, media_type="image/jpeg", caption=caption or "photo")
    for field, (media_type, name) in _FILES.items():
        file = child(message, field)
        if file:
            given = text(file, "mime_type") or media_type
            return _media(file, media_type=given, caption=caption or _file_words(name, file))
    return ()


def service(message: Raw) -> str:
    """What a service message is about: the field that no ordinary message has."""
    odd = sorted(field for field in set(message) - _METADATA if message[field])
    return odd[0] if odd else "empty"


def _media(file: Raw, *, media_type: str, caption: str) -> tuple[Media, ...]:
    identity = text(file, "file_id")
    return (Media(media_type=media_type, url=f"telegram:file:{identity}", caption=caption),) if identity else ()


def _is_plain_file(message: Raw) -> bool:
    """A caption stands for its file; a poll or a place is mentioned beside it."""
    return "photo" in message or any(field in message for field in _FILES)


def _shown(message: Raw) -> str | None:
    if objects(message, "photo"):
        return "(photo)"
    for field, (_, name) in _FILES.items():
        if file := child(message, field):
            return f"({_file_words(name, file)})"
    return _shared(message)


def _file_words(name: str, file: Raw) -> str:
    known = text(file, "file_name") or text(file, "title") or text(file, "emoji")
    seconds = integer(file, "duration")
    length = f", {seconds} s" if seconds and name in {"voice message", "video message", "audio"} else ""
    return f"{name}{': ' + known if known else ''}{length}"


def _shared(message: Raw) -> str | None:
    """Things that are not files. Venues come with a location and games with nothing else."""
    if venue := child(message, "venue"):
        return f"(place: {text(venue, 'title') or ''}, {text(venue, 'address') or ''})"
    if place := child(message, "location"):
        return f"(location: {number(place, 'latitude')}, {number(place, 'longitude')})"
    if contact := child(message, "contact"):
        name = " ".join(filter(None, (text(contact, "first_name"), text(contact, "last_name"))))
        return f"(contact: {name} {text(contact, 'phone_number') or ''})".replace(" )", ")")
    if poll := child(message, "poll"):
        options = " / ".join(text(option, "text") or "" for option in objects(poll, "options"))
        return f"(poll: {text(poll, 'question') or ''} {options})"
    if checklist := child(message, "checklist"):
        tasks = " / ".join(text(task, "text") or "" for task in objects(checklist, "tasks"))
        return f"(checklist: {text(checklist, 'title') or ''} {tasks})"
    if dice := child(message, "dice"):
        return f"({text(dice, 'emoji') or 'dice'} {integer(dice, 'value')})"
    if game := child(message, "game"):
        return f"(game: {text(game, 'title') or ''})"
    if invoice := child(message, "invoice"):
        return f"(invoice: {text(invoice, 'title') or ''})"
    if message.get("paid_media"):
        return "(paid media)"
    return "(story)" if message.get("story") else None
