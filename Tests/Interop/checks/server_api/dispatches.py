"""AgentDispatchService with the unmodified livekit-api, and a worker that gets the jobs. A dispatch is a job."""

from harness import *
from assistant_client import AssistantProcess
from twirp import *

JobStatus = agent.JobStatus


def creation(world: World, assistant: str, **fields) -> agent_dispatch.CreateAgentDispatchRequest:
    return agent_dispatch.CreateAgentDispatchRequest(room=world.room, agent_name=assistant, **fields)


def assistant_of(world: World) -> str:
    return world.room.replace("interop", "helper")


@check("CreateDispatch sends an assistant to a room once, and ListDispatch shows it")
async def dispatching(world: World):
    name = assistant_of(world)
    worker = await AssistantProcess.register(world, name)
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        dispatches = server.official.agent_dispatch
        made = await dispatches.create_dispatch(creation(world, name, metadata="about books"))
        expect_equal((made.agent_name, made.room, made.metadata), (name, world.room, "about books"), "CreateDispatch: the dispatch")
        offered = (await worker.message("job.offered", made.id))["job"]
        expect_equal(
            (offered["id"], offered["room"], offered["assistant"], offered["metadata"], offered["reason"]),
            (made.id, world.room, name, "about books", "request"), "job.offered")
        accepted = await worker.request("job.accept", job=made.id)
        agent_client = await world.connect(accepted["livekit_token"])
        await alice.event("agent.joined", participant=f"assistant:{name}")
        for fields in ({}, {"metadata": "other"}):
            again = await dispatches.create_dispatch(creation(world, name, **fields))
            expect_equal((again.id, again.metadata), (made.id, "about books"), f"CreateDispatch {fields} of an assistant in the room")
        listed = await dispatches.list_dispatch(world.room)
        expect_equal([one.id for one in listed], [made.id], "ListDispatch: ids")
        (job,) = listed[0].state.jobs
        expect_equal(
            (job.dispatch_id, job.agent_name, job.metadata, JobStatus.Name(job.state.status)),
            (made.id, name, "about books", "JS_RUNNING"), "ListDispatch: the job")
        shown = await dispatches.get_dispatch(made.id, world.room)
        expect_equal(shown and shown.id, made.id, "ListDispatch with dispatch_id")
        expect_equal(await dispatches.get_dispatch("JB_nothing", world.room), None, "ListDispatch with an unknown dispatch_id")
        await agent_client.request("ping")
    await worker.close()


@check("DeleteDispatch cancels the job, and removes the agent")
async def deletion(world: World):
    name = assistant_of(world)
    worker = await AssistantProcess.register(world, name)
    alice = await world.join("alice")
    async with ServerAPI.of(world) as server:
        dispatches = server.official.agent_dispatch
        offered = await dispatches.create_dispatch(creation(world, name))
        await worker.message("job.offered", offered.id)
        deleted = await dispatches.delete_dispatch(offered.id, world.room)
        expect_equal((deleted.id, deleted.agent_name, deleted.room), (offered.id, name, world.room), "DeleteDispatch: the dispatch")
        lifetime = deleted.state.deleted_at - deleted.state.created_at
        expect(0 < lifetime < 60e9, f"DeleteDispatch: a lifetime of {lifetime} ns")
        await worker.message("job.cancelled", offered.id)
        running = await dispatches.create_dispatch(creation(world, name))
        expect(running.id != offered.id, f"CreateDispatch after DeleteDispatch: {running.id} again")
        agent_client = await worker.accept(running.id)
        await alice.event("agent.joined")
        await dispatches.delete_dispatch(running.id, world.room)
        expect_equal(await agent_client.closed(), 4103, "DeleteDispatch: the agent's close code")
        await alice.event("participant.left", participant=f"assistant:{name}", reason="PARTICIPANT_REMOVED")
        # Jobs are listed until two minutes after their end.
        listed = {
            one.id: [JobStatus.Name(job.state.status) for job in one.state.jobs] for one in await dispatches.list_dispatch(world.room)
        }
        cancelled = {offered.id: ["JS_CANCELLED"], running.id: ["JS_CANCELLED"]}
        expect_equal(listed, cancelled, "ListDispatch after DeleteDispatch: states of the jobs")
        await expect_failure("not_found", "DeleteDispatch of an unknown id", dispatches.delete_dispatch("JB_nothing", world.room))
    async with ServerAPI.of(world) as server:
        other = await server.official.agent_dispatch.create_dispatch(creation(world, name))
        await expect_failure(
            "not_found", "DeleteDispatch of a dispatch of another room",
            server.official.agent_dispatch.delete_dispatch(other.id, world.room + "-other"))
    await worker.close()


@check("CreateDispatch checks the assistant and its limits")
async def creation_limits(world: World):
    await world.join("alice")
    name = assistant_of(world)
    worker = await AssistantProcess.register(world, name)
    async with ServerAPI.of(world) as server:
        dispatches = server.official.agent_dispatch
        unseen = dispatches.create_dispatch(creation(world, "unseen"))
        await expect_failure("not_found", "CreateDispatch of an assistant that the gateway has never seen", unseen)
        await expect_failure("invalid_argument", "CreateDispatch without agent_name", dispatches.create_dispatch(creation(world, "")))
        too_large = creation(world, name, metadata="m" * 16_385)
        await expect_failure("invalid_argument", "CreateDispatch with metadata of 16,385 bytes", dispatches.create_dispatch(too_large))
        expect_equal(await dispatches.list_dispatch(world.room), [], "ListDispatch after refused requests")
    await worker.close()


@check("CreateRoom and CreateDispatch send assistants to rooms without participants")
async def room_agents(world: World):
    name = assistant_of(world)
    worker = await AssistantProcess.register(world, name)
    async with ServerAPI.of(world) as server:
        await server.official.room.create_room(
            api.CreateRoomRequest(name=world.room, agents=[api.RoomAgentDispatch(agent_name=name, metadata="from CreateRoom")]))
        job = (await worker.message("job.offered"))["job"]
        expect_equal((job["room"], job["metadata"]), (world.room, "from CreateRoom"), "job.offered after CreateRoom with agents")
        await server.official.agent_dispatch.delete_dispatch(job["id"], world.room)
        await server.official.room.delete_room(api.DeleteRoomRequest(room=world.room))
        world.room += "-later"
        made = await server.official.agent_dispatch.create_dispatch(creation(world, name))
        await worker.message("job.offered", made.id)
        listed = await server.official.agent_dispatch.list_dispatch(world.room)
        expect_equal([one.id for one in listed], [made.id], "ListDispatch of a room that is not open")
        await server.official.agent_dispatch.delete_dispatch(made.id, world.room)
    await worker.close()
