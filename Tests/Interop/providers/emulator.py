"""An OpenAI-compatible server for tests: chat completions, transcriptions, speech and Realtime, on a free loopback port.

    python Tests/Interop/providers/emulator.py

Prints the port and serves until its standard input ends, so it ends with its parent. What it answers is a function of the request. A model
named `fault-…` answers with that fault; with `-once` at its end and a tag of the caller's choice (`fault-500-once/tag`), only the first time.
"""

import asyncio
import json
import math
import os
import struct
import sys
import wave
from io import BytesIO

from aiohttp import web

from realtime_emulator import realtime

SPEECH_RATE = 24_000
MS_PER_CHARACTER = 60
ENDLESS_BYTES = 10 << 20
refused_once = set()


def error(status, kind, code, headers=None):
    body = {"error": {"message": f"emulated: {code}", "type": kind, "param": None, "code": code}}
    return web.json_response(body, status=status, headers=headers)


async def fault(request, model):
    """The response to a request that fails before its answer begins; nil if the model has no such fault."""
    name, _, tag = model.partition("/")
    if name.endswith("-once"):
        if tag in refused_once:
            return None
        refused_once.add(tag)
        name = name.removesuffix("-once")
    if name == "fault-400":
        return error(400, "invalid_request_error", "bad_request")
    if name == "fault-401":
        return error(401, "invalid_request_error", "invalid_api_key")
    if name == "fault-403":
        return error(403, "invalid_request_error", "unsupported_country")
    if name == "fault-404":
        return error(404, "invalid_request_error", "model_not_found")
    if name == "fault-429":
        return error(429, "requests", "rate_limit_exceeded", {"Retry-After": "1"})
    if name == "fault-500":
        return error(500, "server_error", "server_error")
    if name == "fault-html":
        return web.Response(text="<!DOCTYPE html><html><body>Welcome to nginx!</body></html>", content_type="text/html")
    if name == "fault-empty":
        return web.Response(body=b"")
    if name == "fault-hang":
        await asyncio.sleep(3_600)
    return None


# Chat completions


def answer_to(messages, tools):
    """Returns the text of the answer and its tool calls, `(id, name, arguments)`."""
    names = [tool["function"]["name"] for tool in tools or []]
    last = messages[-1]
    if last["role"] == "tool":
        return f"The tool says {last['content']}.", []
    said = last["content"] or ""
    if "weather" in said and "get_weather" in names:
        return "", [("call_w1", "get_weather", '{"city":"Köln","days":2}'), ("call_w2", "get_weather", '{"city":"Rom"}')]
    if "goodbye" in said and "end_call" in names:
        return "Goodbye, 世界.", [("call_e1", "end_call", "{}")]
    return f"You said: {said}", []


def check_messages(messages):
    """OpenAI's rule for tool calls: each is answered right after the message that contains it."""
    waiting = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "a tool message without a call"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return "a tool call without a result"
        else:
            waiting = [call["id"] for call in message.get("tool_calls") or []]
    return "a tool call without a result" if waiting else None


def chunk(delta, finish=None):
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    event = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "emulator", "choices": [choice]}
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def chunks_of(text, calls):
    yield chunk({"role": "assistant", "content": ""})
    for word in text.split(" ") if text else []:
        yield chunk({"content": word + " "})
    for index, (id, name, arguments) in enumerate(calls):
        yield chunk({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]})
        for start in range(0, len(arguments), 5):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[start:start + 5]}}]})
    yield chunk({}, "tool_calls" if calls else "stop")
    yield b"data: [DONE]\n\n"


async def chat(request):
    body = await request.json()
    model = body["model"]
    if response := await fault(request, model):
        return response
    if problem := check_messages(body["messages"]):
        return error(400, "invalid_request_error", problem)
    if model == "no-tools" and "tools" in body:
        return error(400, "invalid_request_error", "tools_not_supported")
    text, calls = answer_to(body["messages"], body.get("tools"))
    if not body.get("stream") or model == "no-stream":
        entries = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}} for id, name, arguments in calls]
        message = {"role": "assistant", "content": text or None, "refusal": None} | ({"tool_calls": entries} if entries else {})
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if entries else "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return web.json_response({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage})
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"})
    await response.prepare(request)
    if model == "byte-by-byte":
        for event in chunks_of(text, calls):
            for start in range(0, len(event), 7):
                await response.write(event[start:start + 7])
        return response
    if model == "carriage-returns":
        for event in chunks_of(text, calls):
            await response.write(b": comment\r\n" + event.replace(b"\n", b"\r\n").removesuffix(b"\r\n" if b"DONE" in event else b""))
        return response
    first = chunk({"role": "assistant", "content": "Half of "})
    if model == "fault-hang-later":
        await response.write(first)
        await asyncio.sleep(3_600)
    if model == "fault-comments":
        while True:
            await response.write(b": still working\n\n")
            await asyncio.sleep(0.05)
    if model == "fault-half-event":
        await response.write(first + first[:40])
        return response
    if model == "fault-truncated":
        await response.write(first)
        request.transport.close()
        return response
    if model == "fault-unfinished":
        await response.write(first)
        return response
    if model == "fault-malformed-json":
        await response.write(first + b'data: {"choices": [{"delta": }]}\n\n')
        return response
    if model == "fault-stream-error":
        problem = {"error": {"message": "emulated", "type": "server_error", "code": "overloaded"}}
        await response.write(first + f"data: {json.dumps(problem)}\n\n".encode())
        return response
    if model == "fault-endless":
        token, sent = chunk({"content": "more "}), 0
        while sent < ENDLESS_BYTES:
            await response.write(token * 64)
            sent += len(token) * 64
        return response
    if model == "fault-endless-event":
        await response.write(b"data: ")
        for _ in range(ENDLESS_BYTES >> 16):
            await response.write(b"x" * 65_536)
        return response
    for event in chunks_of(text, calls):
        await response.write(event)
    return response


# Transcriptions


async def transcriptions(request):
    form = await request.post()
    model, kind = form["model"], form.get("response_format", "json")
    if response := await fault(request, model):
        return response
    if model == "fault-malformed-json":
        return web.Response(text='{"text": "half', content_type="application/json")
    if model == "fault-endless":
        return web.Response(text=json.dumps({"text": "more " * (ENDLESS_BYTES // 5)}), content_type="application/json")
    if model == "fault-truncated":
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"text": "half of ')
        request.transport.close()
        return response
    if model == "json-only" and kind != "json":
        return error(400, "invalid_request_error", "unsupported_value")
    with wave.open(BytesIO(form["file"].file.read())) as sound:
        seconds = sound.getnframes() / sound.getframerate()
        words = [] if model == "silence" else f"I heard {seconds:.2f} seconds at {sound.getframerate()} hertz".split()
    text = " ".join(words)
    if kind == "text":
        return web.Response(text=text + "\n")
    if kind == "verbose_json":
        body = {"task": "transcribe", "language": "english", "duration": seconds, "text": text, "segments": []}
        if "word" in form.getall("timestamp_granularities[]", []):
            each = seconds / max(len(words), 1)
            body["words"] = [
                {"word": word, "start": round(index * each, 3), "end": round((index + 1) * each, 3)} for index, word in enumerate(words)]
        return web.json_response(body)
    return web.json_response({"text": text})


# Speech


def tone(samples, rate):
    return b"".join(struct.pack("<h", round(8_000 * math.sin(2 * math.pi * 440 * index / rate))) for index in range(samples))


def wav_header(rate, data_bytes):
    """With 0xFFFFFFFF as the size, as servers write it that do not know it yet."""
    riff_bytes = data_bytes if data_bytes == 0xFFFFFFFF else data_bytes + 36
    return struct.pack("<4sI8sIHHIIHH4sI", b"RIFF", riff_bytes, b"WAVEfmt ", 16, 1, 1, rate, rate * 2, 2, 16, b"data", data_bytes)


async def speech(request):
    body = await request.json()
    model, kind = body["model"], body.get("response_format", "mp3")
    if response := await fault(request, model):
        return response
    if kind not in ("pcm", "wav"):
        return error(400, "invalid_request_error", "unsupported_value")
    rate = {"wav-22050": 22_050, "fault-wrong-rate": 4_000}.get(model, SPEECH_RATE)
    samples = len(body["input"]) * MS_PER_CHARACTER * rate // 1_000
    pcm = tone(samples, rate)
    sends_wav = kind == "wav" or rate != SPEECH_RATE
    content = wav_header(rate, 0xFFFFFFFF if model == "wav-22050" else len(pcm)) + pcm if sends_wav else pcm
    if model == "fault-json":
        return web.json_response({"status": "queued"})
    response = web.StreamResponse(headers={"Content-Type": "audio/wav" if sends_wav else "audio/pcm"})
    if model == "fault-truncated":
        response.content_length = len(content)
    await response.prepare(request)
    if model == "fault-truncated":
        await response.write(content[: len(content) // 2])
        request.transport.close()
        return response
    if model == "fault-hang-later":
        await response.write(content[:4_800])
        await asyncio.sleep(3_600)
    if model == "fault-endless":
        for _ in range(ENDLESS_BYTES >> 16):
            await response.write(b"\x01\x02" * 32_768)
        return response
    # Samples are cut in the middle.
    for start in range(0, len(content), 999):
        await response.write(content[start:start + 999])
    return response


async def upgrade(request):
    if response := await fault(request, request.query["model"]):
        return response
    return await realtime(request, tone)


@web.middleware
async def authorize(request, handler):
    """A key that begins with `wrong` is refused; a missing one is not, as with local servers."""
    if request.headers.get("Authorization", "").startswith("Bearer wrong"):
        return error(401, "invalid_request_error", "invalid_api_key")
    try:
        return await handler(request)
    except ConnectionError:
        # The client has read enough.
        return web.Response()


async def main():
    application = web.Application(client_max_size=64 << 20, middlewares=[authorize])
    application.add_routes([
        web.post("/v1/chat/completions", chat), web.post("/v1/audio/transcriptions", transcriptions),
        web.post("/v1/audio/speech", speech), web.get("/v1/realtime", upgrade)])
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    print(site._server.sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.buffer.read)
    # Requests that hang on purpose are not waited for.
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
