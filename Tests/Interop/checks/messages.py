"""Data, text and digits: to whom they are meant for, and not to the sender."""

import base64

from harness import *


@check("data.send: to all others or to those named, as text or base64, with an empty topic by default")
async def data(world: World):
    alice, bob, carol = await world.join_all("alice", "bob", "carol")
    expect_equal(await alice.request("data.send", topic="to all", payload="{\"a\":\"ä\"}"), {})
    for client in (bob, carol):
        expect_equal(await client.event("data"), {"participant": "alice", "topic": "to all", "payload": "{\"a\":\"ä\"}"})
    content = base64.b64encode(bytes(range(256))).decode()
    await alice.request("data.send", payload_base64=content, to=["carol", "carol", "alice", "nobody"])
    expect_equal(await carol.event("data", topic=""), {"participant": "alice", "topic": "", "payload_base64": content})
    await alice.request("data.send", topic="empty list", payload="", to=[])
    await bob.event("data", topic="empty list", payload="")
    await expect_nothing(alice, "data")
    expect(not bob.has_event("data", topic=""), "bob got what was for carol")
    expect_equal(len([1 for kind, _ in carol.events if kind == "data"]), 3, "data at carol's")


@check("data.send and text.send keep their limits and answer what is wrong")
async def data_limits(world: World):
    alice, bob = await world.join_all("alice", "bob")
    await alice.request("data.send", payload="x" * 64_000)
    expect_equal(len((await bob.event("data"))["payload"]), 64_000)
    for code, fields in (
        ("limit_exceeded", {"payload": "x" * 64_001}), ("limit_exceeded", {"payload": "x", "topic": "t" * 257}),
        ("invalid_argument", {}), ("invalid_argument", {"payload": "x", "payload_base64": "eA=="}),
        ("invalid_argument", {"payload_base64": "eA"}), ("invalid_argument", {"payload_base64": "e*=="}),
        ("invalid_argument", {"payload": 1}), ("invalid_argument", {"payload": "x", "to": "bob"}),
        ("not_found", {"payload": "x", "to": ["nobody"]}),
    ):
        await expect_failure(code, alice.request("data.send", **fields))
    await expect_failure("limit_exceeded", alice.request("text.send", text="x" * 64_001))
    await expect_failure("invalid_argument", alice.request("text.send"))
    await expect_failure("not_found", alice.request("text.send", text="x", to=["nobody"]))


@check("text.send has an id, and LiveKit's topic by default")
async def text(world: World):
    alice, bob, carol = await world.join_all("alice", "bob", "carol")
    sent = await alice.request("text.send", text="héllo \u2028 🙂")
    expect_equal(
        await bob.event("text"), {"participant": "alice", "id": sent["id"], "topic": "lk.chat", "text": "héllo \u2028 🙂"})
    other = await alice.request("text.send", text="psst", topic="whisper", to=["carol"])
    expect_equal((await carol.event("text", topic="whisper"))["id"], other["id"])
    expect(other["id"] != sent["id"], "two texts have one id")
    await expect_nothing(bob, "text", topic="whisper")


@check("dtmf.send: the digits of a keypad, to all others")
async def digits(world: World):
    alice, bob = await world.join_all("alice", "bob")
    await alice.request("dtmf.send", digits="0123456789*#ABCDw")
    expect_equal(await bob.event("dtmf"), {"participant": "alice", "digits": "0123456789*#ABCDw"})
    for wrong in ("", "E", "1 2", "1" * 65, 12):
        await expect_failure("invalid_argument", alice.request("dtmf.send", digits=wrong))


@check("who may not publish data may send neither data, text, digits, calls nor transcripts")
async def data_grant(world: World):
    alice, bob = await world.join("alice", can_publish_data=False), await world.join("bob")
    for kind, fields in (
        ("data.send", {"payload": "x"}), ("text.send", {"text": "x"}), ("dtmf.send", {"digits": "1"}),
        ("rpc.request", {"to": "bob", "method": "m"}), ("transcript.segment", {"id": "s", "role": "user", "text": "x"}),
    ):
        await expect_failure("not_allowed", alice.request(kind, **fields))
    await bob.request("data.send", payload="but it hears")
    await alice.event("data", payload="but it hears")
