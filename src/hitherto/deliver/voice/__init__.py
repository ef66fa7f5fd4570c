"""Voice: answers a ringing call from the cached prompt alone, and stores the call when it has ended.

`elevenlabs`, `vapi` and `retell` read and write their platform's shapes; `signatures` checks whether a webhook is theirs;
`prompts` is the cache's entry, `lookups` the tool used during a call. All of it is pure except `line`: routes pass it
bodies, headers and the time.
"""

from hitherto.deliver.voice import elevenlabs, lookups, prompts, retell, signatures, vapi
from hitherto.deliver.voice.lookups import Asked
from hitherto.deliver.voice.prompts import CachedPrompt, Spoken
from hitherto.deliver.voice.transcripts import Call, Platform, Ringing, Utterance, turns

__all__ = [
    "Asked",
    "CachedPrompt",
    "Call",
    "Platform",
    "Ringing",
    "Spoken",
    "Utterance",
    "elevenlabs",
    "lookups",
    "prompts",
    "retell",
    "signatures",
    "turns",
    "vapi",
]
