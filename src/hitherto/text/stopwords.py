"""The analyser's stop list.

Pinned here rather than taken from a package, because a changed list silently changes every stored stem. It
holds what carries no topic in a chat: function words, auxiliaries, question words, contractions and small
talk's fillers. Negations are in it as well: BM25 cannot use them, and the stored text still says "not".
"""

from typing import Final

_FUNCTION_WORDS: Final = """
a about above across after again against all almost along already also although always am among an and
another any anyone anything are around as at away back be became because become been before behind being
below between both but by came can cannot could did do does doing done down during each either else enough
etc even ever every few for from further get gets getting give gives go goes going gone got had has have
having he her here hers herself him himself his how however i if in instead into is it its itself just keep
kept kind least less let like likely made make makes making many may maybe me might mine more most much must
my myself neither never no nobody none nor not nothing now of off often on once one ones only onto or other
others ought our ours ourselves out over own per perhaps quite rather really said same saw say says see seem
seems shall she should since so some someone something sometimes somewhat soon still such take takes taking
than that the their theirs them themselves then there these they thing things this those though through
throughout till to together too took toward towards under until unto up upon us use used using very via was
way we well went were what whatever when whenever where wherever whether which while who whoever whole whom
whose why will with within without would yes yet you your yours yourself yourselves
"""

_CONTRACTIONS: Final = """
i'm i've i'd i'll you're you've you'd you'll he's he'd he'll she's she'd she'll it's it'd it'll we're we've
we'd we'll they're they've they'd they'll that's that'd that'll there's there'd there'll here's what's
what're what'd what'll who's who'd who'll who're where's where'd when's why's why'd how's how'd how're let's
isn't aren't wasn't weren't don't doesn't didn't hasn't haven't hadn't won't wouldn't can't couldn't shan't
shouldn't mustn't mightn't needn't ain't y'all ma'am o'clock im ive youre youve dont doesnt didnt isnt arent
wasnt werent hasnt havent hadnt wont wouldnt cant couldnt shouldnt thats theres whats s t d ll m re ve
"""

_FILLERS: Final = """
ah aha eh er hey hi hm hmm hello huh lol mm oh ok okay omg please pls thank thanks uh uhm um wow yeah yep
yup nope haha
"""

STOPWORDS: Final = frozenset(f"{_FUNCTION_WORDS} {_CONTRACTIONS} {_FILLERS}".split())
