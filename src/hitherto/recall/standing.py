"""Standing requests: what a user said once and means from then on.

"Always answer in Spanish", "never mention my ex", "I prefer short answers" share no word with the messages they
apply to, so no similarity finds them. They are recognised when they are said, by the form of the sentence and not
by its topic, and kept on a shelf that every retrieval looks at. The shelf is bounded where ranking uses it.

The forms are narrow on purpose. "I always walk to work" tells a habit, "do you always shout?" asks: neither asks for
anything to be done from now on.
"""

import re
from typing import Final, Literal

Kind = Literal["instruction", "preference"]

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_MAX_SENTENCES: Final = 12
_MAX_SENTENCE: Final = 600
_CODE_FENCE: Final = "```"

_LEAD: Final = (
    r"^\W*(?:(?:and|also|but|so|ok|okay|oh|hey|well|btw|by the way|one more thing|please|pls|kindly|just|"
    r"remember|note|important|reminder|in general|as a rule)\b[\s,:.!-]*)*"
)
_ACTIONS: Final = (
    r"(?:use|answer|reply|respond|speak|talk|write|call|address|refer|include|add|give|show|provide|keep|format|"
    r"avoid|remember|assume|explain|mention|say|ask|tell|start|end|sign|stick|limit|cite|confirm|translate|send|"
    r"make|remind|treat|round|list|bring|do|be|put|skip|leave|stop|check|suggest|recommend|offer|interrupt)"
)
_INSTRUCTION: Final = re.compile(
    _LEAD
    + r"(?:"
    + rf"(?:always|never|don'?t ever|do not ever)\s+(?:ever\s+)?(?!give up\b){_ACTIONS}\b"
    + r"|(?:always|never)\s+(?!(?:mind|give up|had|been|was|were|thought|knew|heard|gets?|seen|a|the)\b)\w+\s"
    + r"(?=.*\b(?:when(?:ever)? i|if i|for me|with me|to me|in your|your (?:answers?|repl|respon))\b)"
    + r"|(?:from now on|from here on|going forward|henceforth|in (?:the )?future|from today)\b(?!.*\bi(?:'ll| will| am|'m)\b)"
    + r"|(?:whenever|every time|each time|any ?time|when|if) (?:i|we) (?:ask|say|mention|talk|tell|write|send|type|want|need)"
    + rf"\b[^.?!]*,\s*(?:please\s+|always\s+|never\s+|you should\s+)*(?:{_ACTIONS})\b"
    + r"|(?:i(?:'d| would) (?:like|want|need) you|i (?:want|need) you|you (?:should|must|have)|make sure(?: you)?|be sure|"
    + r"can you(?: please)?|could you(?: please)?)\s+(?:to\s+)?(?:always|never)\b"
    + r"|call me \w+\s*(?:[.!,]|$|from now|instead|please)"
    + rf"|(?:don'?t|do not|stop)\s+(?:{_ACTIONS}|\w+ing)\b"
    + r".*\b(?:any ?more|again|ever|in your|with me|to me)\b"
    + r")",
    re.IGNORECASE,
)
_PREFERENCE: Final = re.compile(
    r"\bi(?:'d| would| really| generally| usually| much| strongly| always| also| still| personally| definitely)*"
    r" prefer(?:red)?\b(?! not to (?:say|answer))"
    r"|\bmy (?:strong |general |personal )?preferences?\b"
    r"|\bi(?:'d| would) (?:much )?rather (?!not (?:say|answer)|than)\w+"
    r"|\bmy (?:all[- ]time )?favou?rite (?:\w+ ){1,3}(?:is|are|has always been)\b"
    r"|\bi(?:'m| am) (?:(?:severely|very|really|also|a|an|strictly) )*"
    r"(?:allergic|intolerant|vegan|vegetarian|pescatarian|lactose|coeliac|celiac)\b"
    r"|\bi (?:really |absolutely |just )*(?:can'?t stand|hate|despise|detest|dislike|don'?t (?:like|eat|drink|want))\b"
    r"|\bi (?:only|never) (?:eat|drink|use|wear|buy|read|listen|watch)\b"
    r"|\bi(?:'m| am) more of an? \w+|\bworks best for me\b|\bi like (?:my|it when|to keep|things)\b",
    re.IGNORECASE,
)


def standing(text: str) -> Kind | None:
    """What kind of standing request a user's turn holds, if any; an instruction outranks a preference."""
    found: Kind | None = None
    prose = text.split(_CODE_FENCE, 1)[0][: _MAX_SENTENCES * _MAX_SENTENCE].replace("’", "'")
    for sentence in _SENTENCE.split(prose)[:_MAX_SENTENCES]:
        part = sentence[:_MAX_SENTENCE]
        if _INSTRUCTION.search(part) and not part.rstrip().endswith("?"):
            return "instruction"
        if found is None and _PREFERENCE.search(part):
            found = "preference"
    return found
