"""Admission: tokens, grants, rejections."""

from harness import *


@check("a livekit-api token with only a room and an identity is admitted with LiveKit's defaults")
async def default_grants(world: World):
    client = await world.join("alice")
    hello, me = client.hello, client.hello["participant"]
    expect_equal(
        (me["identity"], me["name"], me["kind"], me["metadata"], me["attributes"]), ("alice", "", "standard", "", {}))
    expect_equal(me["permission"], {
        "can_publish": True, "can_subscribe": True, "can_publish_data": True, "can_publish_sources": [],
        "can_update_metadata": False, "hidden": False,
    })
    expect_equal((hello["room"]["name"], hello["room"]["max_participants"], hello["participants"]), (world.room, 0, []))
    expect_equal((hello["session_id"], client.last_seq), (None, 1))
    expect(hello["resume_token"].startswith("RT_"), hello["resume_token"])


@check("name, metadata, attributes, kind and every grant of livekit-api are preserved")
async def whole_token(world: World):
    attributes = {"lk.some_key": "1", "camelCase": "2", "snake_case": "3", "Ünï": "ö"}
    token = (
        world.access_token(
            "agent-7", can_publish=True, can_publish_sources=["microphone"], can_publish_data=False, can_update_own_metadata=True,
            can_subscribe=False, room_admin=True, can_subscribe_metrics=True, can_manage_agent_session=True, agent=True)
        .with_kind("agent").with_name("Ada Ünïcode").with_metadata('{"a":"b"}').with_attributes(attributes)
        .with_sip_grants(api.SIPGrants(call=True)).with_sha256("x").with_room_preset("nothing"))
    me = (await world.connect(token.to_jwt())).hello["participant"]
    expect_equal((me["identity"], me["name"], me["kind"]), ("agent-7", "Ada Ünïcode", "agent"))
    expect_equal((me["metadata"], me["attributes"]), ('{"a":"b"}', attributes))
    expect_equal(me["permission"], {
        "can_publish": True, "can_subscribe": False, "can_publish_data": False, "can_publish_sources": ["microphone"],
        "can_update_metadata": True, "hidden": False,
    })


@check("every participant kind of livekit-api is accepted")
async def kinds(world: World):
    for kind in ("standard", "egress", "ingress", "sip", "agent"):
        expect_equal((await world.join(f"a-{kind}", kind=kind)).hello["participant"]["kind"], kind)


@check("canPublishData defaults to canPublish; `jti` substitutes for `sub`; session_id is returned")
async def rare_claims(world: World):
    video = {"roomJoin": True, "room": world.room, "canPublish": False}
    client = await world.connect(world.signed(world.claims("alice", video=video, session_id="S_42")))
    expect_equal(client.hello["participant"]["permission"]["can_publish_data"], False)
    expect_equal(client.hello["session_id"], "S_42")
    client = await world.connect(world.signed(world.claims(sub="", jti="by-jti", kind="of-the-future", aud="x", iat=1)))
    expect_equal((client.hello["participant"]["identity"], client.hello["participant"]["kind"]), ("by-jti", "standard"))


@check("the token is accepted in the header, in a subprotocol item that is not echoed, and in the query")
async def places(world: World):
    for location in ("header", "subprotocol", "query"):
        token = world.token(f"by-{location}")
        client = await world.connect(token, token_in=location)
        expect_equal(client.socket.subprotocol, SUBPROTOCOL)
        head = str(client.socket.response.headers)
        expect(not any(part in head for part in token.split(".")), f"the response repeats the token: {head}")
    # The token's item may come first, and the first location with a token is used.
    token = world.token("item-first")
    await world.connect(None, subprotocols=(f"patchbay.bearer.{token}", SUBPROTOCOL))
    await world.connect(world.token("good-header"), query={"access_token": "bad"})
    await world.expect_rejected(401, "malformed_token", None, headers={"Authorization": "Bearer bad"}, query={"access_token": token})
    await world.expect_rejected(401, "malformed_token", None, headers={"Authorization": f"Basic {token}"})


@check("exp and nbf have a leeway of 60 s")
async def leeway(world: World):
    now = world.claims()["nbf"]
    await world.connect(world.expiring(-30, "late"))
    await world.connect(world.signed(world.claims("early", nbf=now + 30)))
    await world.connect(world.signed(world.claims("without-nbf", nbf=None)))


@check("invalid tokens are rejected with 401 and a specific code")
async def bad_tokens(world: World):
    now = world.claims()["nbf"]
    good = world.token("somebody")
    head, payload, signature = good.split(".")
    unsigned = jwt.encode(world.claims(), "", algorithm="none")
    join = {"roomJoin": True, "room": world.room}
    table = [
        (None, "missing_token"),
        ("x", "malformed_token"),
        (f"{head}.{payload}", "malformed_token"),
        (f"{good}.{signature}", "malformed_token"),
        (f"{head}.{payload}=.{signature}", "malformed_token"),
        (world.signed(world.claims(name=7)), "malformed_token"),
        (world.signed(world.claims(attributes={"a": 1})), "malformed_token"),
        (world.signed(world.claims(iss="nobody")), "unknown_issuer"),
        (world.signed(world.claims(iss=None)), "malformed_token"),
        (world.signed(world.claims(), algorithm="HS512"), "wrong_algorithm"),
        (unsigned, "malformed_token"),
        (unsigned + "eA", "wrong_algorithm"),
        (world.signed(world.claims(), secret="not-" + world.secret), "bad_signature"),
        (f"{head}.{payload}.{signature[:-6]}AAAAAA", "bad_signature"),
        (world.signed(world.claims(exp=None)), "missing_expiry"),
        (world.expiring(-120), "token_expired"),
        (world.signed(world.claims(nbf=now + 120)), "token_not_yet_valid"),
        (world.signed(world.claims(sub="")), "bad_identity"),
        (world.signed(world.claims("i" * 257)), "bad_identity"),
        (world.signed(world.claims(video=join | {"room": "r" * 257})), "bad_room"),
    ]
    faults = []
    for token, code in table:
        rejection = await world.rejection(token)
        if (rejection.status, rejection.code) != (401, code):
            faults.append(f"{rejection.status} {rejection.code} instead of 401 {code} for {str(token)[-40:]}")
    expect(not faults, "; ".join(faults))


@check("an identity and a room name of 256 bytes are accepted")
async def longest_names(world: World):
    room = (world.room + "-").ljust(256, "r")
    client = await world.connect(world.signed(world.claims("i" * 256, video={"roomJoin": True, "room": room})))
    expect_equal((client.hello["room"]["name"], client.hello["participant"]["identity"]), (room, "i" * 256))


@check("valid tokens without a grant to join are rejected with 403")
async def missing_grants(world: World):
    for video in (
        None, {}, {"roomJoin": False, "room": world.room}, {"roomJoin": True}, {"roomJoin": True, "room": ""}, {"roomList": True},
    ):
        await world.expect_rejected(403, "missing_grant", world.signed(world.claims(video=video)))
    await world.expect_rejected(403, "missing_grant", world.token("x", room_join=False, room_list=True))


@check("other rejections: no subprotocol, another path, no upgrade, no TLS")
async def other_refusals(world: World):
    token = world.token("alice")
    await world.expect_rejected(400, "subprotocol_required", token, subprotocols=())
    await world.expect_rejected(400, "subprotocol_required", token, subprotocols=("patchbay.v2", "chat"))
    await world.expect_rejected(404, "not_found", token, path="/")
    await world.expect_rejected(404, "not_found", token, path="/v1/rtc/x")
    expect_equal((await world.http_json("GET", "/v1/rtc", token, status=426))["code"], "upgrade_required")
    host, port = world.url.removeprefix("wss://").rsplit(":", 1)
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    writer.write(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    answer = await asyncio.wait_for(reader.read(4096), 5)
    writer.close()
    expect(answer.startswith(b"HTTP/1.1 400") and b"tls_required" in answer, answer[:200])


@check("a token over 16 KiB is rejected")
async def large_token(world: World):
    token = world.access_token("alice").with_metadata("m" * 14_000).to_jwt()
    expect(len(token) > 16 * 1024, len(token))
    try:
        rejection = await world.rejection(token)
    except AssertionError:
        raise
    except Exception:
        return  # A request head over 16 KiB closes the connection without a response.
    expect_equal((rejection.status, rejection.code), (401, "token_too_large"))


@check("after 20 tokens that do not verify, an address gets 429 for further ones; valid tokens are admitted, missing ones do not count")
async def failed_attempts(world: World):
    source = world.new_source()
    if source is None:
        return
    statuses = [(await world.rejection(None, source=source)).code for _ in range(25)]
    expect_equal(set(statuses), {"missing_token"})
    statuses = [(await world.rejection("bad", source=source)).status for _ in range(21)]
    expect_equal(statuses, [401] * 20 + [429])
    await world.expect_rejected(429, "too_many_attempts", world.signed(world.claims(), secret="wrong" * 10), source=source)
    await world.connect(world.token("alice"), source=source)
    await world.expect_rejected(401, "missing_token", None, source=source)
    await world.expect_rejected(401, "malformed_token", "bad")


@check("an offer of permessage-deflate is ignored")
async def deflate(world: World):
    alice = await world.connect(world.token("alice"), compression="deflate")
    bob = await world.connect(world.token("bob", kind="agent"), compression="deflate")
    track = await alice.publish()
    await bob.event("track.published")
    sent = speech(track["alias"], 5)
    await talk(alice, sent)
    expect_frames(await bob.receive_frames(5), sent)


@check("roomConfig of livekit-api sets participant limit, metadata and departure timeout")
async def room_config(world: World):
    config = api.RoomConfiguration(max_participants=2, metadata="made by a token", departure_timeout=1, empty_timeout=60)

    def token(identity: str, kind: str = "standard") -> str:
        return world.access_token(identity).with_kind(kind).with_room_config(config).to_jwt()

    first = await world.connect(token("first"))
    expect_equal((first.hello["room"]["max_participants"], first.hello["room"]["metadata"]), (2, "made by a token"))
    second = await world.connect(token("second"))
    await world.expect_rejected(409, "room_full", token("third"))
    agent = await world.connect(token("agent", "agent"))
    # A replaced connection of the same identity does not count towards the limit.
    again = await world.connect(token("second"))
    expect_equal(await second.closed(), 4104)
    for client in (first, again, agent):
        await client.leave()
    await asyncio.sleep(2.5)
    later = await world.connect(token("later"))
    expect(later.hello["room"]["sid"] != first.hello["room"]["sid"], "the empty room has not ended")
