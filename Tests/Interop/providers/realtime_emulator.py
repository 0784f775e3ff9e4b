"""The Realtime part of `emulator.py`: one WebSocket session, in the general or the beta form of the protocol."""

import asyncio
import base64
import itertools
import json

from aiohttp import WSMsgType, web

RATE = 24_000
DELTA_SAMPLES = 1_200
MS_PER_CHARACTER = 20
# Event names of the beta that were renamed.
BETA_NAMES = {
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio.done": "response.audio.done",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
    "response.output_audio_transcript.done": "response.audio_transcript.done",
    "conversation.item.added": "conversation.item.created",
}


class Session:
    def __init__(self, socket, model, tone):
        self.socket = socket
        self.model = model
        self.tone = tone
        self.is_beta = model.startswith("beta")
        self.numbers = itertools.count(1)
        self.config = {}
        self.audio_bytes = 0
        self.said = ""
        self.tool_result = None
        self.response = None
        self.is_responding = False
        self.event_id = None
        # Milliseconds of audio of each item, and of the last one that was truncated.
        self.spoken_ms = {}
        self.heard_ms = None

    async def send(self, kind, **fields):
        kind = BETA_NAMES.get(kind, kind) if self.is_beta else kind
        await self.socket.send_str(json.dumps({"type": kind, "event_id": f"event_{next(self.numbers)}", **fields}))

    async def fail(self, code, message):
        await self.send("error", error={"type": "invalid_request_error", "code": code, "message": message, "param": None, "event_id": self.event_id})

    def described(self):
        shape = {"modalities": ["audio", "text"], "input_audio_format": "pcm16", "output_audio_format": "pcm16"}
        return {"id": "sess_1", "object": "realtime.session", "model": self.model} | (
            shape if self.is_beta else {"type": "realtime", "output_modalities": ["audio"], "audio": {}}) | self.config

    async def run(self):
        await self.send("session.created", session=self.described())
        async for message in self.socket:
            if message.type != WSMsgType.TEXT:
                break
            await self.take(json.loads(message.data))
        self.cancel()

    async def take(self, event):
        kind = event["type"]
        self.event_id = event.get("event_id")
        if kind == "session.update":
            await self.update(event["session"])
        elif kind == "input_audio_buffer.append":
            self.audio_bytes += len(base64.b64decode(event["audio"], validate=True))
        elif kind == "input_audio_buffer.clear":
            self.audio_bytes = 0
            await self.send("input_audio_buffer.cleared")
        elif kind == "input_audio_buffer.commit":
            await self.commit()
        elif kind == "conversation.item.create":
            await self.create(event["item"])
        elif kind == "conversation.item.truncate":
            await self.truncate(event)
        elif kind == "response.create":
            if self.is_responding:
                await self.fail("conversation_already_has_active_response", "a response is in progress")
            else:
                self.is_responding = True
                self.response = asyncio.create_task(self.respond())
                # A task that is cancelled before it starts would report nothing.
                await asyncio.sleep(0)
        elif kind == "response.cancel":
            if not self.cancel():
                await self.fail("response_cancel_not_active", "no active response")
        else:
            await self.fail("unknown_event", f"unknown event {kind}")

    async def update(self, session):
        """Server VAD must be off, the audio 24 kHz, and the form that of this server."""
        if self.is_beta:
            problem = "type" in session or session.get("turn_detection", 0) is not None or session.get("input_audio_format") != "pcm16"
        else:
            given = session.get("audio", {}).get("input", {})
            rate = given.get("format", {}).get("rate")
            problem = session.get("type") != "realtime" or given.get("turn_detection", 0) is not None or rate != RATE
        if problem or session.get("voice") == "unknown" or session.get("audio", {}).get("output", {}).get("voice") == "unknown":
            await self.fail("invalid_value", "this session is not accepted")
            return
        self.config = session
        await self.send("session.updated", session=self.described())

    async def commit(self):
        if self.audio_bytes < RATE * 2 // 10:
            await self.fail("input_audio_buffer_commit_empty", "less than 100 ms of audio")
            return
        item = f"item_u{next(self.numbers)}"
        self.said = f"{self.audio_bytes * 1_000 // (RATE * 2)} ms"
        self.audio_bytes = 0
        await self.send("input_audio_buffer.committed", item_id=item, previous_item_id=None)
        name = "conversation.item.input_audio_transcription"
        await self.send(f"{name}.delta", item_id=item, content_index=0, delta=self.said)
        usage = {"type": "duration", "seconds": 1}
        await self.send(f"{name}.completed", item_id=item, content_index=0, transcript=self.said, usage=usage)

    async def create(self, item):
        item = {"id": f"item_c{next(self.numbers)}", "object": "realtime.item", "status": "completed"} | item
        if item["type"] == "function_call_output":
            self.tool_result = item["output"]
        elif item["role"] == "assistant":
            if item["content"][0]["type"] != ("text" if self.is_beta else "output_text"):
                return await self.fail("invalid_value", "assistants do not write this")
        else:
            self.said = item["content"][0]["text"]
        await self.send("conversation.item.added", item=item, previous_item_id=None)

    async def truncate(self, event):
        item, end = event["item_id"], event["audio_end_ms"]
        if item not in self.spoken_ms or end > self.spoken_ms[item]:
            return await self.fail("invalid_value", f"the audio of {item} is shorter than {end} ms")
        self.heard_ms = end
        await self.send("conversation.item.truncated", item_id=item, content_index=event["content_index"], audio_end_ms=end)

    def cancel(self):
        is_active = self.response is not None and not self.response.done()
        if is_active:
            self.response.cancel()
        return is_active

    # Responses

    async def respond(self):
        id = f"resp_{next(self.numbers)}"
        item = {"id": f"item_r{next(self.numbers)}", "object": "realtime.item"}
        response = {"id": id, "object": "realtime.response", "status": "in_progress", "output": []}
        place = {"response_id": id, "item_id": item["id"], "output_index": 0}
        await self.send("response.created", response=response)
        try:
            names = [tool["name"] for tool in self.config.get("tools", [])]
            if "weather" in self.said and "get_weather" in names:
                self.said = ""
                await self.call_tool(place, item, {"name": "get_weather", "call_id": "call_1", "arguments": '{"city":"Rom"}'})
            elif self.model != "fault-empty-response":
                text = f"The tool says {self.tool_result}." if self.tool_result else f"You said {self.said}."
                if self.said == "What did I hear?":
                    text = f"You heard {self.heard_ms} ms."
                self.tool_result = None
                await self.speak(place, item, text)
            status = {"status": "completed"}
        except asyncio.CancelledError:
            status = {"status": "cancelled", "status_details": {"type": "cancelled", "reason": "client_cancelled"}}
        if self.model == "fault-failed-response":
            problem = {"type": "server_error", "code": "server_error", "message": "emulated"}
            status = {"status": "failed", "status_details": {"type": "failed", "error": problem}}
        self.is_responding = False
        await self.send("response.done", response=response | status)

    async def call_tool(self, place, item, call):
        item |= {"type": "function_call", "status": "completed"} | call
        await self.send("response.output_item.added", response_id=place["response_id"], output_index=0, item=item | {"arguments": ""})
        await self.send(
            "response.function_call_arguments.done", **place, call_id=call["call_id"], name=call["name"], arguments=call["arguments"])
        await self.send("response.output_item.done", response_id=place["response_id"], output_index=0, item=item)

    async def speak(self, place, item, text):
        item |= {"type": "message", "role": "assistant", "status": "in_progress", "content": []}
        await self.send("response.output_item.added", response_id=place["response_id"], output_index=0, item=item)
        place = place | {"content_index": 0}
        audio = self.tone(len(text) * MS_PER_CHARACTER * RATE // 1_000, RATE)
        for word in text.split(" "):
            await self.send("response.output_audio_transcript.delta", **place, delta=word + " ")
        starts = itertools.count(0, 2 * DELTA_SAMPLES) if self.model == "fault-endless" else range(0, len(audio), 2 * DELTA_SAMPLES)
        for number, start in enumerate(starts):
            if self.model == "fault-truncated" and number == 2:
                self.socket._req.transport.abort()
                return
            if self.model == "fault-malformed-json" and number == 2:
                await self.socket.send_str('{"type": "response.output_audio.delta", "delta": ')
            start = 0 if self.model == "fault-endless" else start
            piece = audio[start:start + 2 * DELTA_SAMPLES]
            self.spoken_ms[item["id"]] = self.spoken_ms.get(item["id"], 0) + len(piece) * 1_000 // (RATE * 2)
            await self.send("response.output_audio.delta", **place, delta=base64.b64encode(piece).decode())
            if self.model == "slow":
                await asyncio.sleep(0.1)
        await self.send("response.output_audio.done", **place)
        await self.send("response.output_audio_transcript.done", **place, transcript=text)
        await self.send(
            "response.output_item.done", response_id=place["response_id"], output_index=0, item=item | {"status": "completed"})


async def realtime(request, tone):
    model = request.query["model"]
    socket = web.WebSocketResponse(max_msg_size=1 << 20)
    await socket.prepare(request)
    if model == "fault-silent":
        await asyncio.sleep(3_600)
    if model == "fault-big-message":
        await socket.send_str(json.dumps({"type": "session.created", "session": {"type": "realtime", "instructions": "x" * (4 << 20)}}))
    await Session(socket, model, tone).run()
    return socket
