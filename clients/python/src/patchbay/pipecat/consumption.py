"""Waits until the processors behind the transport have taken what was pushed to them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from loguru import logger
from pipecat.frames.frames import ControlFrame, Frame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor

from .params import CONSUME_SECONDS_MAX


@dataclass
class ConsumedFrame(ControlFrame):
    """Follows the heard words through the pipeline. Has no other meaning."""


async def wait_until_consumed(processor: FrameProcessor) -> None:
    """Waits until each processor behind this one has processed what was pushed before; 150 ms at most.

    Processors are waited for one after the other, so that words have also passed a processor in between. What a
    processor passes on from a task of its own is not waited for.
    """
    try:
        async with asyncio.timeout(CONSUME_SECONDS_MAX):
            following = processor.next
            while following is not None:
                await _processed(following)
                following = following.next
    except TimeoutError:
        logger.warning(f"{following} has not processed the heard words within {CONSUME_SECONDS_MAX} s")


async def _processed(processor: FrameProcessor) -> None:
    done = asyncio.Event()

    async def did_process(_: FrameProcessor, __: Frame, ___: FrameDirection) -> None:
        done.set()

    await processor.queue_frame(ConsumedFrame(), FrameDirection.DOWNSTREAM, did_process)
    await done.wait()
