"""A pipeline of Pipecat's with a memory before the model.

    pip install ".[pipecat]" && python examples/pipecat_call.py "May I bring a cake to Acme on Monday?"

Run it again with "yes": it is understood. Words stand for the ear and the voice, and a stand-in for the model: it tells what
one would know. In a call, `stt` and the aggregator stand before the memory, `llm` and `tts` behind it.
"""

import asyncio
import sys
from pathlib import Path

from pipecat.frames.frames import EndFrame, Frame, LLMContextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from hitherto import Hitherto
from hitherto.integrations import PipecatMemory


class StandIn(FrameProcessor):
    """In place of a model."""

    answer = ""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            known = "the cake" if "cake" in str(frame.context.get_messages()) else "no cake"
            self.answer = f"I know of {known}."
        await self.push_frame(frame, direction)


async def main(folder: Path, said: str) -> str:
    async with Hitherto(folder) as memory:
        model = StandIn()
        task = PipelineTask(Pipeline([PipecatMemory(memory, user="ana"), model]))
        await task.queue_frames([LLMContextFrame(LLMContext([{"role": "user", "content": said}])), EndFrame()])
        await PipelineRunner(handle_sigint=False).run(task)
    print(f"Ana: {said}\nNikita: {model.answer}\n")
    return model.answer


if __name__ == "__main__":
    asyncio.run(main(Path("./memories"), " ".join(sys.argv[1:]) or "May I bring a cake to Acme on Monday?"))
