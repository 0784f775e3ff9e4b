"""RPC, with LiveKit's error codes."""

from harness import *


async def answer(client: Client, **fields) -> dict:
    call = await client.event("rpc.request")
    await client.request("rpc.response", request_id=call["request_id"], **fields)
    return call


@check("an RPC reaches the callee, and its response or error is returned")
async def round_trip(world: World):
    alice, bob = await world.join_all("alice", "bob")
    call = {"to": "bob", "method": "weather", "payload": '{"city":"Bern"}'}
    reply, heard = await asyncio.gather(alice.request("rpc.request", timeout_ms=60_000, **call), answer(bob, payload="sunny"))
    expect_equal(reply, {"payload": "sunny"})
    expect_equal(
        {name: value for name, value in heard.items() if name != "request_id"},
        {"participant": "alice", "method": "weather", "payload": '{"city":"Bern"}', "timeout_ms": 60_000})
    # The default timeout.
    for code, message in ((1400, "no such method"), (1500, "broke"), (42, "own"), (1500, "m" * 300)):
        failure, heard = await asyncio.gather(
            expect_error(code, alice.request("rpc.request", **call)), answer(bob, error={"code": code, "message": message}))
        expect_equal((failure.message, heard["timeout_ms"]), (message[:256], 10_000))
    # Two concurrent calls, answered in reverse order.
    first = asyncio.create_task(alice.request("rpc.request", to="bob", method="one"))
    second = asyncio.create_task(alice.request("rpc.request", to="bob", method="two"))
    calls = {method: (await bob.event("rpc.request", method=method))["request_id"] for method in ("one", "two")}
    await bob.request("rpc.response", request_id=calls["two"], payload="2")
    expect_equal(await second, {"payload": "2"})
    await bob.request("rpc.response", request_id=calls["one"], payload="")
    expect_equal(await first, {"payload": ""})


@check("RPC errors: 1401 no recipient, 1402 and 1504 payload too large, 1502 timeout, 1503 callee left")
async def failures(world: World):
    alice, bob, carol = await world.join_all("alice", "bob", "carol")
    await expect_error(1401, alice.request("rpc.request", to="nobody", method="m"))
    await expect_error(1402, alice.request("rpc.request", to="bob", method="m", payload="x" * 15_361))
    began = asyncio.get_running_loop().time()
    await expect_error(1502, alice.request("rpc.request", to="bob", method="late", timeout_ms=300))
    took = asyncio.get_running_loop().time() - began
    expect(0.3 <= took < 10, f"a timeout of 0.3 s took {took:.2f} s")
    late = await bob.event("rpc.request", method="late")
    await expect_error("not_found", bob.request("rpc.response", request_id=late["request_id"], payload="x"))
    waiting = asyncio.create_task(expect_error(1504, alice.request("rpc.request", to="bob", method="big")))
    big = await bob.event("rpc.request", method="big")
    await expect_error("not_found", carol.request("rpc.response", request_id=big["request_id"], payload="mine?"))
    await expect_error("invalid_argument", bob.request("rpc.response", request_id=big["request_id"]))
    await expect_error("limit_exceeded", bob.request("rpc.response", request_id=big["request_id"], payload="x" * 15_361))
    await waiting
    waiting = asyncio.create_task(expect_error(1503, alice.request("rpc.request", to="bob", method="gone")))
    await bob.event("rpc.request", method="gone")
    await bob.leave()
    await waiting
    # A callee whose connection is lost may resume and respond.
    carol.abort()
    await alice.event("participant.updated", participant="carol", connection="reconnecting")
    await expect_error(1502, alice.request("rpc.request", to="carol", method="away", timeout_ms=300))
    for fields in ({"to": "carol", "method": ""}, {"to": "carol", "method": "m" * 65}, {"to": "carol", "method": "m", "timeout_ms": 0},
                   {"to": "carol", "method": "m", "timeout_ms": 60_001}, {"method": "m"}):
        await expect_error("invalid_argument", alice.request("rpc.request", **fields))


@check("at most a hundred RPCs may be pending")
async def waiting_calls(world: World):
    alice, bob = await world.join_all("alice", "bob")
    calls = [asyncio.create_task(alice.request("rpc.request", to="bob", method=f"m{index}", timeout_ms=20_000)) for index in range(100)]
    ids = [(await bob.event("rpc.request", method=f"m{index}"))["request_id"] for index in range(100)]
    failure = await expect_error("limit_exceeded", alice.request("rpc.request", to="bob", method="one more"))
    expect(failure.retryable, "not retryable")
    for request_id in ids:
        await bob.send_message({"type": "rpc.response", "data": {"request_id": request_id, "payload": request_id}})
    expect_equal([reply["payload"] for reply in await asyncio.gather(*calls)], ids)
