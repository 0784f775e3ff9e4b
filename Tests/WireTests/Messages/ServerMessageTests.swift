import Foundation
import Testing
import Wire

struct ServerMessageTests {
    private static let track = TrackInfo(
        sid: TrackSID(text: "TR_1"), alias: TrackAlias(9), participant: Identity(text: "ann"),
        description: PublishTrack(name: "mic", frameMs: 2.5, dtx: true), muted: true, epoch: 3)
    private static let participant = ParticipantInfo(
        sid: ParticipantSID(text: "PA_1"), identity: Identity(text: "ann"), name: "Ann \"A\" \u{1F600}\n", kind: .agent,
        metadata: "{\"a\":1}",
        attributes: ["snake_case": "1", "camelCase": "2", "lk.agent.state": "idle"],
        permission: Permission(canPublishSources: ["microphone"], hidden: true), joinedAt: 1_800_000_000, tracks: [track])
    private static let room = RoomInfo(sid: RoomSID(text: "RM_1"), name: "r", metadata: "m", createdAt: 1_800_000_000, maxParticipants: 5)
    private static let ann = Identity(text: "ann")
    private static let sid = TrackSID(text: "TR_1")

    private static let heard = HeardPosition(playedTs: .max, playedMs: 1_200, isEstimated: true)
    private static let cut = ClearedPlayout(track: sid, epoch: 255, heard: heard, discardedMs: 800, reason: "barge-in")

    static let events: [Event] = [
        .hello(
            Hello(
                server: ServerInfo(version: "1", node: "n"), room: room, participant: participant, participants: [participant],
                sessionId: nil, logged: true,
                resumeToken: "RT_1")),
        .hello(
            Hello(
                server: ServerInfo(version: "1", node: "n"), room: room, participant: participant, participants: [], sessionId: "s",
                session: SessionBriefing(
                    sessionId: "s", context: "phone", clientContext: "{\"a\":1}\n",
                    pastSummaries: [PastSummary(title: "t", summary: "\u{1F600}", endedAt: 1_800_000_000)]), resumeToken: "RT_1",
                nodes: ["wss://n2.example", "wss://[2001:db8::1]:7880"])),
        .participantJoined(participant), .participantLeft(ann, reason: .duplicateIdentity),
        .participantUpdated(participant, connection: .reconnecting), .trackPublished(track), .trackUnpublished(sid, of: ann),
        .trackMuted(sid, of: ann), .trackUnmuted(sid, of: ann),
        .speakersChanged([Speaker(participant: ann, track: sid, level: 0.125, active: true)]), .speakersChanged([]),
        .qualityChanged(ann, .poor), .talkStarted(ann, sid, at: MediaTime(ticks: .max)),
        .talkStopped(ann, sid, at: MediaTime(ticks: 0), reason: .silence), .silence(ann, milliseconds: 10_000),
        .talkEarlier(ann, sid, from: MediaTime(ticks: .max), live: MediaTime(ticks: 9_600)),
        .segment(
            TranscriptSegment(
                id: "s", rev: 2, role: .assistant, participant: ann, track: sid, text: "hi", final: true, language: "en", startTs: 1,
                endTs: .max,
                words: [TranscriptWord(text: "hi", startTs: 1, endTs: 2)], spoken: .interrupted, spokenChars: 1)),
        .agentState(ann, .speaking), .agentJoined(participant), .agentLost(ann, reason: .agentError),
        .agentWaiting(ann, reason: .busy), .agentWaiting(ann, reason: .noWorker), .agentWaiting(ann, reason: .ended),
        .data(from: ann, topic: "t", .text("p")), .data(from: ann, topic: "t", .base64("AAEC")),
        .text(id: "TX_1", from: ann, topic: "lk.chat", text: "hello/\\\""),
        .procedureCalled(requestID: "RPC_1", from: ann, method: "m", payload: "p", timeoutMilliseconds: 5), .digits(from: ann, "12#"),
        .playoutMarked(sid, name: "m", .played, at: MediaTime(ticks: .max)), .playoutMarked(sid, name: "", .timeout, at: nil),
        .playoutCleared(cut, by: ann), .playoutStarted(sid, of: ann, epoch: 255, at: MediaTime(ticks: 7)),
        .playoutFinished(sid, of: ann, epoch: 0, heard), .playoutBacklog(sid, .full, queuedMs: 60_000, dropped: 3),
        .callHeld(by: ann), .callResumed(by: ann), .callMuted(by: ann), .callUnmuted(by: ann), .callEnded(reason: "hangup"),
        .roomUpdated(room),
        .recordingStarted(RecordingID(text: "RC_1")), .recordingStopped(RecordingID(text: "RC_1"), .failed),
        .tokenRefreshed(token: "a.b.c", expiresAt: 1_800_000_600), .serverDraining(deadline: 1_800_000_600),
        .bye(.serverShutdown, retryable: true), .stats(ConnectionStats(rttMs: 1.25, sent: .max, dropped: 0, lateP99Ms: 16)),
    ]

    @Test("Events survive a round trip", arguments: events)
    func event(_ event: Event) throws {
        for seq in [1, 42, UInt64.max] {
            guard case .event(let read, let readSeq) = try ServerMessage(parsing: EncodedEvent(event).bytes(seq: seq)) else {
                Issue.record("no event")
                return
            }
            #expect(read == event)
            #expect(readSeq == seq)
        }
    }

    @Test("Every event is snake_case JSON on one line, with its type, seq and data", arguments: events)
    func form(_ event: Event) throws {
        let bytes = EncodedEvent(event).bytes(seq: 1)
        #expect(!bytes.contains(10))
        let message = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(Set(message.keys) == ["type", "seq", "data"])
        let data = try #require(message["data"] as? [String: Any])
        for name in data.keys { #expect(name == name.lowercased(), "\(name)") }
    }

    @Test func attributesKeepTheirOwnNames() throws {
        let bytes = EncodedEvent(.participantJoined(Self.participant)).bytes(seq: 1)
        let text = String(decoding: bytes, as: UTF8.self)
        for name in Self.participant.attributes.keys { #expect(text.contains("\"\(name)\"")) }
    }

    @Test func missingSessionIsEncodedAsNull() {
        #expect(String(decoding: EncodedEvent(Self.events[0]).bytes(seq: 1), as: UTF8.self).contains("\"session_id\":null"))
    }

    @Test func unknownEventsAreIgnored() throws {
        guard case .unknownEvent("moon.rose", seq: 3) = try Self.parse(#"{"type":"moon.rose","seq":3,"data":{"x":1}}"#) else {
            Issue.record("not passed over")
            return
        }
    }

    @Test func unknownReasonsDecodeAsUnknown() throws {
        let text = #"{"type":"participant.left","seq":3,"data":{"participant":"ann","reason":"BORED"}}"#
        guard case .event(.participantLeft(_, reason: .unknown), _) = try Self.parse(text) else {
            Issue.record("not unknown")
            return
        }
    }

    static let replies: [(Reply, String)] = [
        (.done, "{}"), (.textSent(id: "TX_1"), #"{"id":"TX_1"}"#), (.procedureAnswered(payload: "\"p\""), #"{"payload":"\"p\""}"#),
        (
            .cleared(cut),
            #"{"epoch":255,"played_ts":4294967295,"played_ms":1200,"discarded_ms":800,"estimated":true}"#
        ),
        (
            .cleared(
                ClearedPlayout(track: sid, epoch: 1, heard: HeardPosition(playedTs: nil, playedMs: 0, isEstimated: false), discardedMs: 0)),
            #"{"epoch":1,"played_ts":null,"played_ms":0,"discarded_ms":0,"estimated":false}"#
        ),
        (.pong(-1), #"{"t":-1}"#), (.token("a.b.c", expiresAt: 5), #"{"token":"a.b.c","expires_at":5}"#),
    ]

    @Test("Replies carry the request's id and their fields", arguments: replies)
    func reply(_ reply: Reply, _ data: String) throws {
        let bytes = EncodedReply.bytes(of: reply, re: .max)
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"type":"reply","re":18446744073709551615,"data":\#(data)}"#)
        guard case .reply(re: .max, _) = try ServerMessage(parsing: bytes) else {
            Issue.record("no reply")
            return
        }
    }

    @Test func publishedTracksSurviveARoundTrip() throws {
        guard case .reply(re: 1, let fields) = try ServerMessage(parsing: EncodedReply.bytes(of: .published(Self.track), re: 1)) else {
            Issue.record("no reply")
            return
        }
        #expect(fields.track == Self.track)
    }

    @Test("Errors carry the request's id or null", arguments: [nil, 7] as [UInt64?])
    func error(_ id: UInt64?) throws {
        for error in [RequestError(.notFound, "a \"quoted\" word", retryable: true), RequestError(.applicationError)] {
            guard case .error(let readID, let read) = try ServerMessage(parsing: EncodedReply.bytes(of: error, re: id)) else {
                Issue.record("no error")
                return
            }
            #expect(read == error)
            #expect(readID == id)
        }
    }

    @Test(
        "What is not as the protocol has it is an error",
        arguments: [
            "", "{}", "[]", #"{"type":"hello","data":{}}"#, #"{"type":"hello","seq":1,"data":{}}"#, #"{"type":"bye","seq":1}"#,
            #"{"type":"bye","seq":-1,"data":{"reason":"X","retryable":true}}"#, #"{"type":"reply","data":{}}"#,
            #"{"type":"error","re":1}"#, #"{"type":"track.published","seq":1,"data":{"track":"TR_1"}}"#,
            #"{"type":"data","seq":1,"data":{"participant":"a","topic":"t"}}"#,
        ])
    func notAsItShouldBe(_ text: String) {
        #expect(throws: (any Error).self) { try Self.parse(text) }
    }

    private static func parse(_ text: String) throws -> ServerMessage { try ServerMessage(parsing: Array(text.utf8)) }
}
