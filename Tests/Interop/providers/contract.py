"""Checks `emulator.py` with the official `openai` client: the same cases that the tests of `PatchbayAgents` run.

    python Tests/Interop/providers/contract.py [--only TITLE]

Starts the emulator, runs every case of `cases.json` and prints a line for each. `python` in a case is what this client makes of a
fault: the name of an exception, or what it returns. Exit codes: 0 success, 1 failure.
"""

import argparse
import asyncio
import base64
import json
import pathlib
import struct
import sys
import time
import wave
from io import BytesIO

import openai
from openai import AsyncOpenAI

HERE = pathlib.Path(__file__).parent
TOOLS = [
    ("get_weather", "The weather of a city.", {"type": "object", "properties": {"city": {"type": "string"}}}),
    ("end_call", "Ends the call.", {"type": "object", "properties": {}}),
]
# Bytes after which an answer counts as endless, and seconds after which a case has failed.
ENDLESS_BYTES = 2 << 20
ENDLESS_SECONDS = 2
TIME_LIMIT = 20


def tool_entries(calls):
    """Calls as the cases describe them: the name and the arguments' values."""
    return [" ".join([name, *(str(value) for value in json.loads(arguments).values())]) for name, arguments in calls]


async def chat(client, case, model):
    tools = [{"type": "function", "function": {"name": n, "description": d, "parameters": p}} for n, d, p in TOOLS]
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": case.get("say", "hello")}]
    if case.get("results"):
        call = {"id": "call_w1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Rom"}'}}
        messages += [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "call_w1", "content": "21 degrees"}]
    text, calls, finish, received, began = "", {}, None, 0, time.monotonic()
    stream = await client.chat.completions.create(model=model, messages=messages, tools=tools, stream=True)
    async with asyncio.timeout(ENDLESS_SECONDS if case.get("python") == "endless" else None):
        async for chunk in stream:
            choice = chunk.choices[0]
            text += choice.delta.content or ""
            received += len(chunk.to_json())
            for piece in choice.delta.tool_calls or []:
                entry = calls.setdefault(piece.index, ["", ""])
                entry[0] += piece.function.name or ""
                entry[1] += piece.function.arguments or ""
            finish = choice.finish_reason or finish
            if received > ENDLESS_BYTES:
                return "endless"
    if finish is None:
        return "endless" if time.monotonic() - began >= ENDLESS_SECONDS else "unfinished"
    ordered = [calls[index] for index in sorted(calls)]
    ends_call = any(name == "end_call" for name, _ in ordered)
    assert text.strip() == case.get("text", ""), text
    assert tool_entries(call for call in ordered if call[0] != "end_call") == case.get("tools", []), ordered
    assert ends_call == case.get("ends_call", False), "the call's end"


async def transcription(client, case, model):
    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 16_000, 0, "NONE", ""))
        sound.writeframes(b"\0\0" * round(16_000 * case["seconds"]))
    options = {"model": model, "file": ("speech.wav", file.getvalue())}
    try:
        result = await client.audio.transcriptions.create(
            **options, response_format="verbose_json", timestamp_granularities=["word"])
    except openai.BadRequestError:
        result = await client.audio.transcriptions.create(**options, response_format="json")
    text = getattr(result, "text", None)
    if text is None:
        return "no text"
    if len(text) > ENDLESS_BYTES:
        return "endless"
    assert text == case["text"], text
    words = getattr(result, "words", None) or []
    assert len(words) == case["words"], words
    assert all(word.start <= word.end <= case["seconds"] + 0.01 for word in words), words


async def speech(client, case, model):
    content = b""
    async with client.audio.speech.with_streaming_response.create(
            model=model, voice="alloy", input=case["say"], response_format="pcm") as response:
        kind = response.headers.get("content-type", "").partition(";")[0]
        async for piece in response.iter_bytes():
            content += piece
            if len(content) > ENDLESS_BYTES:
                return "endless"
    if not content:
        return "empty"
    if not kind.startswith("audio/"):
        return kind
    rate = 24_000
    if content.startswith(b"RIFF"):
        rate = struct.unpack_from("<I", content, 24)[0]
        content = content[44:]
    if rate < 8_000:
        return f"rate {rate}"
    assert (rate, len(content) // 2) == (case["rate"], case["samples"]), (rate, len(content))


def session_for(case):
    tools = [{"type": "function", "name": n, "description": d, "parameters": p} for n, d, p in TOOLS]
    if case["model"].startswith("beta"):
        return {
            "modalities": ["audio", "text"], "voice": "alloy", "input_audio_format": "pcm16", "output_audio_format": "pcm16",
            "turn_detection": None, "instructions": "Be brief.", "tools": tools}
    shape = {"type": "audio/pcm", "rate": 24_000}
    return {
        "type": "realtime", "output_modalities": ["audio"], "instructions": "Be brief.", "tools": tools,
        "audio": {
            "input": {"format": shape, "turn_detection": None, "transcription": {"model": "whisper-1"}},
            "output": {"format": shape, "voice": case.get("voice", "alloy")}}}


async def realtime(client, case, model):
    # A server that hangs does not answer the close frame either.
    async with client.realtime.connect(model=model, websocket_connection_options={"close_timeout": 0.5}) as connection:
        heard, text, calls, samples = "", "", [], 0
        async for event in connection:
            # The beta's names of events are unknown to this client, but it passes their fields on.
            kind = event.type.replace("response.audio", "response.output_audio")
            if kind == "session.created":
                await connection.session.update(session=session_for(case))
            elif kind == "session.updated":
                await start_turn(connection, case)
            elif kind == "conversation.item.input_audio_transcription.completed":
                heard = event.transcript
            elif kind == "response.output_audio_transcript.delta":
                text += event.delta
            elif kind == "response.output_audio.delta":
                samples += len(base64.b64decode(event.delta)) // 2
                if case.get("cancelled"):
                    await connection.response.cancel()
                if samples > ENDLESS_BYTES:
                    return "endless"
            elif kind == "response.output_item.done" and event.item.type == "function_call":
                calls.append((event.item.name, event.item.arguments))
                await connection.conversation.item.create(
                    item={"type": "function_call_output", "call_id": event.item.call_id, "output": "21 degrees"})
            elif kind == "error":
                return event.error.code
            elif kind == "response.done":
                if case.get("cancelled"):
                    assert event.response.status == "cancelled", event.response.status
                    return None
                if event.response.status != "completed":
                    return event.response.status
                if calls and not samples:
                    await connection.response.create()
                    continue
                if not samples:
                    return "empty"
                break
        assert (heard, text.strip()) == (case.get("heard", ""), case["text"]), (heard, text)
        assert tool_entries(calls) == case.get("tools", []), calls
        assert samples == case["samples"], samples


async def start_turn(connection, case):
    if "say" in case:
        await connection.conversation.item.create(
            item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": case["say"]}]})
    else:
        audio = b"\0\0" * round(24_000 * case.get("seconds", 0.2))
        await connection.input_audio_buffer.append(audio=base64.b64encode(audio).decode())
        await connection.input_audio_buffer.commit()
    await connection.response.create()


def outcome_of(exception, case):
    name = type(exception).__name__
    if isinstance(exception, TimeoutError) and case.get("python") == "endless":
        return "endless"
    if isinstance(exception, TimeoutError) or name == "ReadTimeout":
        return "timeout"
    if case["stage"] == "realtime" and name in ("JSONDecodeError", "ValueError"):
        return "malformed"
    return name


async def run(case, port, number):
    timeout = case.get("timeout_ms", 10_000) / 1_000
    client = AsyncOpenAI(
        base_url=f"http://127.0.0.1:{port}/v1", api_key=case.get("key", "key"), max_retries=case.get("retries", 0), timeout=timeout)
    model = case["model"] + (f"/python-{number}" if case["model"].endswith("-once") else "")
    stage = {"chat": chat, "transcription": transcription, "speech": speech, "realtime": realtime}[case["stage"]]
    began = time.monotonic()
    try:
        async with asyncio.timeout(timeout if case["stage"] == "realtime" else TIME_LIMIT):
            outcome = await stage(client, case, model)
    except AssertionError as error:
        outcome = f"not as expected: {error}"
    except Exception as error:
        outcome = outcome_of(error, case)
    await client.close()
    is_right = outcome == case.get("python")
    print(f"{'ok  ' if is_right else 'FAIL'} {time.monotonic() - began:5.1f} s  {case['stage']}: {case['title']}")
    if not is_right:
        print(f"               {outcome}, expected {case.get('python', 'success')}")
    return is_right


async def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="run only cases whose stage and title contain this")
    only = parser.parse_args().only
    cases = [
        case for case in json.loads((HERE / "cases.json").read_text())
        if only in f"{case['stage']}: {case['title']}" and case.get("only") != "swift"]
    emulator = await asyncio.create_subprocess_exec(
        sys.executable, HERE / "emulator.py", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE)
    port = int(await emulator.stdout.readline())
    results = [await run(case, port, number) for number, case in enumerate(cases)]
    emulator.stdin.close()
    await emulator.wait()
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
