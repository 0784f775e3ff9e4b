"""Data, text and DTMF: delivered to their recipients, not to the sender."""

import base64

from harness import *


@check("data.send delivers to all others or to named recipients, as text or base64, with an empty default topic")
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
    await expect_no_event(alice, "data")
    expect(not bob.has_event("data", topic=""), "bob received data addressed to carol")
    expect_equal(len([1 for kind, _ in carol.events if kind == "data"]), 3, "data at carol's")


@check("data.send and text.send enforce limits and report errors")
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
        await expect_error(code, alice.request("data.send", **fields))
    await expect_error("limit_exceeded", alice.request("text.send", text="x" * 64_001))
    await expect_error("invalid_argument", alice.request("text.send"))
    await expect_error("not_found", alice.request("text.send", text="x", to=["nobody"]))


@check("text.send returns an id and uses LiveKit's default topic")
async def text(world: World):
    alice, bob, carol = await world.join_all("alice", "bob", "carol")
    sent = await alice.request("text.send", text="héllo \u2028 🙂")
    expect_equal(
        await bob.event("text"), {"participant": "alice", "id": sent["id"], "topic": "lk.chat", "text": "héllo \u2028 🙂"})
    other = await alice.request("text.send", text="psst", topic="whisper", to=["carol"])
    expect_equal((await carol.event("text", topic="whisper"))["id"], other["id"])
    expect(other["id"] != sent["id"], "two texts have the same id")
    await expect_no_event(bob, "text", topic="whisper")


@check("dtmf.send delivers keypad digits to all others")
async def digits(world: World):
    alice, bob = await world.join_all("alice", "bob")
    await alice.request("dtmf.send", digits="0123456789*#ABCDw")
    expect_equal(await bob.event("dtmf"), {"participant": "alice", "digits": "0123456789*#ABCDw"})
    for wrong in ("", "E", "1 2", "1" * 65, 12):
        await expect_error("invalid_argument", alice.request("dtmf.send", digits=wrong))


@check("without canPublishData, data, text, DTMF, RPC and transcripts are not allowed")
async def data_grant(world: World):
    alice, bob = await world.join("alice", can_publish_data=False), await world.join("bob")
    for kind, fields in (
        ("data.send", {"payload": "x"}), ("text.send", {"text": "x"}), ("dtmf.send", {"digits": "1"}),
        ("rpc.request", {"to": "bob", "method": "m"}), ("transcript.segment", {"id": "s", "role": "user", "text": "x"}),
    ):
        await expect_error("not_allowed", alice.request(kind, **fields))
    await bob.request("data.send", payload="but it hears")
    await alice.event("data", payload="but it hears")
