"""Participants: joining, changing, leaving, and the resulting events."""

from harness import *


@check("joins, changes and leaves produce events, and hello describes the result")
async def coming_and_going(world: World):
    alice = await world.connect(
        world.access_token("alice", can_update_own_metadata=True).with_name("Alice").with_attributes({"a": "1", "b": "2"}).to_jwt())
    bob = await world.join("bob")
    joined = await alice.event("participant.joined", participant="bob")
    expect_equal((joined["identity"], joined["tracks"]), ("bob", []))
    expect_equal([(other["identity"], other["attributes"]) for other in bob.hello["participants"]], [("alice", {"a": "1", "b": "2"})])

    expect_equal(await alice.request("participant.update", name="A.", metadata="m", attributes={"a": "", "c_d": "3"}), {})
    for client in (alice, bob):
        updated = await client.event("participant.updated", participant="alice", connection="connected")
        expect_equal((updated["name"], updated["metadata"], updated["attributes"]), ("A.", "m", {"b": "2", "c_d": "3"}))
        expect_equal(updated["sid"], alice.hello["participant"]["sid"])
    await alice.request("participant.update")
    carol = await world.join("carol")
    expect_equal([other["identity"] for other in carol.hello["participants"]], ["alice", "bob"], "in the order of joining")
    expect_equal(carol.hello["participants"][0]["name"], "A.")
    await carol.leave()
    await bob.event("participant.left", participant="carol", reason="CLIENT_INITIATED")


@check("leave closes with 1000, and valid reasons are forwarded")
async def leaving(world: World):
    alice = await world.join("alice")
    for given, told in (
        (None, "CLIENT_INITIATED"), ("USER_REJECTED", "USER_REJECTED"), ("ROOM_DELETED", "CLIENT_INITIATED"),
        ("dinner", "CLIENT_INITIATED"),
    ):
        bob = await world.join("bob")
        await bob.send_message({"type": "leave", "id": 9, "data": {"reason": given}} if given else {"type": "leave"})
        expect_equal(await bob.closed(), 1000)
        await alice.event("participant.left", participant="bob", reason=told)
        expect(not bob.has_event("bye"), "bye after leave")


@check("a broken connection is reconnecting, then SIGNAL_CLOSE; one closed with 1001 is CLIENT_INITIATED immediately")
async def breaking(world: World):
    alice, bob, carol = await world.join_all("alice", "bob", "carol")
    dave = await world.join("dave")
    alive_at = asyncio.get_running_loop().time()
    bob.abort()
    await dave.socket.close(4000)
    await carol.socket.close(1001)
    await alice.event("participant.left", participant="carol", reason="CLIENT_INITIATED")
    await asyncio.gather(*(world.expect_disconnect(alice, identity, "SIGNAL_CLOSE", alive_at) for identity in ("bob", "dave")))
    expect(not alice.has_event("participant.updated", participant="carol"), "a client that closed with 1001 was kept as reconnecting")


@check("the newest connection of an identity wins; the older one gets bye and 4104")
async def duplicate_identity(world: World):
    alice, old = await world.join_all("alice", "bob")
    new = await world.join("bob")
    expect_equal(await old.event("bye"), {"reason": "DUPLICATE_IDENTITY", "retryable": False})
    expect_equal(await old.closed(), 4104)
    await alice.event("participant.left", participant="bob", reason="DUPLICATE_IDENTITY")
    await alice.event("participant.joined", participant="bob", sid=new.hello["participant"]["sid"])
    expect_equal([other["identity"] for other in new.hello["participants"]], ["alice"])
    expect_equal(await new.request("ping", t=5), {"t": 5})


@check("hidden participants produce no events, and their messages carry no identity")
async def hidden(world: World):
    alice = await world.join("alice")
    ghost = await world.join("ghost", hidden=True)
    bob = await world.join("bob")
    expect_equal([other["identity"] for other in bob.hello["participants"]], ["alice"])
    await ghost.event("participant.joined", participant="bob")
    await ghost.request("data.send", topic="t", payload="boo")
    expect_equal((await alice.event("data"))["participant"], "")
    await expect_error("not_allowed", ghost.publish())
    await ghost.leave()
    await expect_no_event(alice, "participant.joined", participant="ghost")
    expect(not alice.has_event("participant.left"), "participant.left for a hidden participant")


@check("participant.update enforces limits and requires its grant")
async def update_limits(world: World):
    alice, bob = await world.join("alice", can_update_own_metadata=True), await world.join("bob")
    await expect_error("limit_exceeded", alice.request("participant.update", name="n" * 257))
    await alice.request("participant.update", attributes={"big": "x" * 40_000})
    await expect_error("limit_exceeded", alice.request("participant.update", attributes={"more": "x" * 40_000}))
    await expect_error("not_allowed", bob.request("participant.update", name="Bob"))
    await expect_error("invalid_argument", alice.request("participant.update", attributes={"a": 1}))
    expect_equal(len([1 for kind, _ in bob.events if kind == "participant.updated"]), 1, "participant.updated")


@check("token.refresh and token.refreshed return tokens that livekit-api verifies and that can join")
async def refreshing(world: World):
    token = world.access_token("alice", can_update_own_metadata=True, can_publish_data=False, room_admin=True)
    alice = await world.connect(token.with_name("Alice").with_attributes({"k_k": "v"}).to_jwt())
    answer = await alice.request("token.refresh")
    claims = api.TokenVerifier(world.key, world.secret).verify(answer["token"])
    expect_equal((claims.identity, claims.name, claims.attributes), ("alice", "Alice", {"k_k": "v"}))
    video = claims.video
    expect_equal((video.room, video.room_join, video.can_publish_data, video.room_admin), (world.room, True, False, True))
    exp = jwt.decode(answer["token"], options={"verify_signature": False})["exp"]
    expect_equal(exp, answer["expires_at"], "exp")
    await alice.request("participant.update", name="Alicia")
    pushed = await alice.event("token.refreshed")
    await alice.leave()
    again = await world.connect(pushed["token"])
    me = again.hello["participant"]
    expect_equal((me["name"], me["permission"]["can_publish_data"], me["attributes"]), ("Alicia", False, {"k_k": "v"}))
    await again.send_message({"type": "token.refresh"})
    await again.event("token.refreshed")
