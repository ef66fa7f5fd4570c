"""Short messages: those that mean nothing without what they answer.

"yes", "why?", "lol" or a thumb hold no word worth searching for, so recall reads them in the light of
their focus anchor. The lists are closed on purpose: a message is short only if every word of it is known
to be empty, so that "yes, Acme" or "no sugar" keep being searched for what they say.
"""

import re
import unicodedata
from typing import Final

from hitherto.text.analyser import STOPWORDS

MAX_WORDS: Final = 6
"""A longer chain of empty words ("why would you do that to me") is a sentence, even if no word of it is
rare.
"""

_YES: Final = """
yes yeah yea yep yup yah ya aye sure okay ok k kk alright fine absolutely definitely exactly indeed right
correct certainly agreed totally true please sí si claro vale dale bueno perfecto oui ouais ok d'accord
voilà ja jawohl jo genau klar gerne stimmt natürlich doch sicher sim pode beleza certo sì va bene certo
esatto tak jasne pewnie dobrze да ага угу конечно хорошо ладно так добре evet tamam olur نعم اجل ايوه حسنا
हाँ हां ठीक हाँजी はい うん ええ そう そうです 是 是的 对 好 好的 嗯 行 可以 네 예 응 그래 좋아
"""
_NO: Final = """
no nope nah na never not neither nein nee nö nicht niemals nada nunca jamás non pas jamais não nem nada
mai niente nie нет неа ні hayır yok لا كلا नहीं いいえ いや ううん 不 不是 不行 没有 不要 아니 아니요 아뇨
"""
_QUESTIONS: Final = """
why what how when where who which huh eh what's how's really seriously warum wieso weshalb was wie wann wo
wer echt wirklich pourquoi quoi comment quand où qui vraiment hein por qué que quién cómo cuándo dónde
cuál porque quê quem onde quando perché perche cosa come chi dove davvero dlaczego co jak kiedy gdzie
naprawdę почему зачем что как когда где кто чому neden ne nasıl niye لماذا ماذا كيف क्यों क्या कैसे なぜ なんで
どうして 何 为什么 什么 怎么 왜 뭐 어떻게
"""
_REACTIONS: Final = """
lol lmao lmfao rofl haha hehe hihi xd jaja jajaja kkk rsrs mdr ptdr wow whoa oh ah aha ahh ooh oops ouch
yay ugh meh hm hmm hmmm mhm mm uh um er nice cool great good awesome amazing lovely sweet perfect
wonderful excellent sad funny weird thanks thank thx ty cheers welcome sorry hi hello hey bye ciao gracias
merci danke obrigado obrigada grazie dziękuję dzięki спасибо дякую teşekkürler شكرا धन्यवाद
ありがとう 谢谢 고마워 super toll génial genial prima ottimo 哈哈 呵呵 ㅋㅋ ㅎㅎ 笑 草 привет пока извини
"""
_FILLERS: Final = """
i i'm im you u me it it's its that that's this is are was do does did don't dont know think guess mean so
and but or then too also again of course for a the to not be well just maybe perhaps probably go on ahead
got see same here there now later same about else one more both neither either way all any some idea
problem worries doubt let's lets tell sounds works y et e und et moi et toi und du i ty и а ты я و you're
ur r
"""


def word_set(*lists: str) -> frozenset[str]:
    """The words of texts that list them between spaces."""
    return frozenset(word for text in lists for word in text.split())


_SPEAKING: Final = word_set(_YES, _NO, _QUESTIONS, _REACTIONS)
_EMPTY: Final = _SPEAKING | word_set(_FILLERS)
_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_STRETCHED: Final = re.compile(r"(.)\1{2,}")
_LAUGHTER: Final = re.compile(
    r"(?:a?(?:ha){2,}h?|(?:he){2,}h?|(?:hi){2,}|(?:ja){2,}j?|(?:ха){2,}х?|l(?:ol)+|k{3,}|w{3,}|5{3,})"
)
_LONGEST: Final = 80


def is_short(message: str) -> bool:
    """Whether the message says nothing by itself: only assent, doubt, laughter, question words, emoji or
    signs.
    """
    text = message.strip()
    if len(text) > _LONGEST:
        return False
    words = words_of(text)
    if len(words) > MAX_WORDS:
        return False
    if not words:
        return True
    if any(character.isdigit() for character in text) and not any(map(_LAUGHTER.fullmatch, words)):
        return False
    empty = [word in _EMPTY or bool(_LAUGHTER.fullmatch(word)) for word in words]
    return all(empty) and (len(words) <= 3 or any(word in _SPEAKING for word in words))


def content_words(text: str) -> int:
    """How many different words of a text say something: neither assent, laughter and filler nor a language's stop words."""
    return len(
        {
            word
            for word in words_of(text)
            if word not in _EMPTY and word not in STOPWORDS and not _LAUGHTER.fullmatch(word)
        }
    )


def words_of(text: str) -> list[str]:
    """Words in lower case, with stretched letters drawn back together ("yesss", "noooo") where that makes
    one.
    """
    folded = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    return [_unstretched(word) for word in _WORD.findall(folded)]


def _unstretched(word: str) -> str:
    if word in _EMPTY or not _STRETCHED.search(word):
        return word
    for shorter in (_STRETCHED.sub(r"\1", word), _STRETCHED.sub(r"\1\1", word)):
        if shorter in _EMPTY:
            return shorter
    return word


YES: Final = word_set(_YES)
NO: Final = word_set(_NO)
