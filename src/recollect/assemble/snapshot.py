from dataclasses import dataclass
from recollect.assemble.assembled import Assembled
from recollect.types import Context
@dataclass(frozen=True)
class Taken:
    context: Context
def take(recipe, material, assembled: Assembled) -> Taken:
    return Taken(assembled.context("x"))
async def write(store, taken): ...
