"""Agents: join, state, loss."""

from harness import *


@check("an agent's join and state produce events; later participants see its state as an attribute")
async def state(world: World):
    alice = await world.join("alice")
    agent = await world.connect(world.access_token("agent").with_kind("agent").with_name("Ada").to_jwt())
    joined = await alice.event("participant.joined", participant="agent", kind="agent")
    expect_equal(await alice.event("agent.joined"), joined)
    for word in ("initializing", "idle", "listening", "thinking", "speaking", "error", "listening"):
        expect_equal(await agent.request("agent.state", state=word), {})
        expect_equal(await alice.event("agent.state"), {"participant": "agent", "state": word})
    await agent.request("agent.state", state="listening")
    late = await world.join("late")
    (described,) = [other for other in late.hello["participants"] if other["identity"] == "agent"]
    expect_equal(described["attributes"], {"lk.agent.state": "listening"})
    await expect_no_event(alice, "participant.updated")
    expect_equal(len([1 for kind, _ in alice.events if kind == "agent.state"]), 7, "agent.state")
    await expect_error("invalid_argument", agent.request("agent.state", state="bored"))
    await expect_error("not_allowed", alice.request("agent.state", state="idle"))


@check("an agent that disconnects is lost; one that leaves is not")
async def loss(world: World):
    alice = await world.join("alice")
    agent = await world.join("agent", kind="agent")
    track = await agent.publish(source="assistant")
    alive_at = asyncio.get_running_loop().time()
    agent.abort()
    await world.expect_disconnect(alice, "agent", "SIGNAL_CLOSE", alive_at)
    expect_equal(await alice.event("agent.lost"), {"participant": "agent", "reason": "SIGNAL_CLOSE"})
    order = [kind for kind, data in alice.events if kind in ("track.unpublished", "participant.left", "agent.lost")]
    expect_equal(order, ["track.unpublished", "participant.left", "agent.lost"])
    expect(alice.has_event("track.unpublished", track=track["sid"]), "track.unpublished")
    agent = await world.join("agent", kind="agent")
    await agent.send_message({"type": "leave", "data": {"reason": "AGENT_ERROR"}})
    await alice.event("agent.lost", reason="AGENT_ERROR")
    agent = await world.join("agent", kind="agent")
    await agent.leave()
    await alice.event("participant.left", participant="agent", reason="CLIENT_INITIATED")
    await expect_no_event(alice, "agent.lost", reason="CLIENT_INITIATED")


@check("an agent that was asked for hears what was said before it came; nobody else hears it again")
async def earlier(world: World):
    agents = api.RoomConfiguration(agents=[api.RoomAgentDispatch(agent_name="default")])
    alice = await world.connect(world.access_token("alice").with_room_config(agents).to_jwt())
    track = await alice.publish()
    said = speech(track["alias"], 20)
    await talk(alice, said)
    agent, bob = await world.join("assistant:default", kind="agent"), await world.join("bob")
    earlier = await agent.event("talk.earlier", participant="alice", track=track["sid"])
    expect_equal((earlier["ts"], earlier["live_ts"]), (0, 20 * 960))
    expect_frames(await agent.receive_frames(20), said, "earlier speech")
    more = speech(track["alias"], 5, first=20)
    await talk(alice, more)
    expect_frames(await agent.receive_frames(25), said + more, "earlier and live speech")
    expect_frames(await bob.receive_frames(5), more, "bob's")
    await expect_no_event(bob, "talk.earlier")
