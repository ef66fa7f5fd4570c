"""Voice: answer a ringing call from the cached prompt alone, and remember the call when it has ended.

`elevenlabs`, `vapi` and `retell` read and write their platform's shapes; `signatures` tells whether a
webhook is theirs; `prompts` is the cache's entry. All of it is pure: routes give it bodies, headers and
the time.
"""

from recollect.deliver.voice import elevenlabs, prompts, retell, signatures, vapi
from recollect.deliver.voice.calls import Call, Platform, Ringing, Utterance, turns
from recollect.deliver.voice.prompts import CachedPrompt, Spoken

__all__ = [
    "CachedPrompt",
    "Call",
    "Platform",
    "Ringing",
    "Spoken",
    "Utterance",
    "elevenlabs",
    "prompts",
    "retell",
    "signatures",
    "turns",
    "vapi",
]
