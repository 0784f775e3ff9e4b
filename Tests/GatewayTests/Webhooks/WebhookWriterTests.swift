import Backend
import Foundation
import Gateway
import Store
import Testing
import Wire

@testable import Engine

struct WebhookWriterTests {
    private static let endpoints = ["https://a.example/hook", "https://b.example/hook"]
    private static let room = Room.Snapshot(
        info: RoomInfo(sid: RoomSID(text: "RM_1"), name: "den", metadata: "", createdAt: 1_795_000_000, maxParticipants: 0),
        participantCount: 2, publisherCount: 1)
    private static let ana = ParticipantInfo(
        sid: ParticipantSID(text: "PA_1"), identity: Identity(text: "ana"), name: "Ana", kind: .standard, metadata: "", attributes: [:],
        permission: Permission(), joinedAt: 1_795_000_001, tracks: [])
    private static let track = TrackInfo(
        sid: TrackSID(text: "TR_1"), alias: TrackAlias(1), participant: Identity(text: "ana"),
        description: PublishTrack(
            name: "mic", source: .microphone, codec: "opus", mode: .live, frameMs: 20, dtx: true, fec: true, channels: 1))

    private let writer = WebhookWriter(to: endpoints)

    private static func event(_ event: Room.AuditEvent) -> RoomAuditEvent {
        RoomAuditEvent(.room(event), room: room, at: 1_795_000_002_500)
    }

    private static func fields(_ webhook: OutgoingWebhook) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(webhook.body.utf8)) as? [String: Any])
    }

    @Test(arguments: [
        (Room.AuditEvent.started, "room_started"), (.finished(.roomClosed), "room_finished"),
        (.joined(ana, sessionID: nil), "participant_joined"),
        (.left(ana, sessionID: nil, .clientInitiated), "participant_left"),
        (.aborted(ana, sessionID: nil, .joinFailure), "participant_connection_aborted"),
        (.published(track, by: ana.sid), "track_published"), (.unpublished(track, by: ana.sid), "track_unpublished"),
    ])
    func eventsUseLiveKitNames(_ event: Room.AuditEvent, _ name: String) throws {
        let webhooks = writer.announcement(of: Self.event(event)).webhooks
        #expect(webhooks.map(\.event) == [name, name])
        #expect(try Self.fields(webhooks[0])["event"] as? String == name)
    }

    @Test func endpointsReceiveIdenticalWebhooks() throws {
        let id = WebhookID()
        let webhooks = writer.announcement(of: Self.event(.started), id: id).webhooks
        #expect(webhooks.map(\.endpoint) == Self.endpoints)
        #expect(Set(webhooks.map(\.body)).count == 1 && webhooks.allSatisfy { $0.id == id && $0.room == "den" })
        let fields = try Self.fields(webhooks[0])
        #expect(fields["id"] as? String == "EV_\(id)" && fields["createdAt"] as? String == "1795000002")
    }

    @Test func trackWebhookIncludesItsOwner() throws {
        let fields = try Self.fields(writer.announcement(of: Self.event(.published(Self.track, by: Self.ana.sid))).webhooks[0])
        #expect(fields["participant"] as? [String: String] == ["sid": "PA_1", "identity": "ana"])
        #expect((fields["track"] as? [String: Any])?["sid"] as? String == "TR_1")
    }

    @Test func transcriptsHoldsAndRecordingsHaveNoWebhook() {
        let said = Room.TranscribedSegment(
            segment: TranscriptSegment(id: "s1", role: .user, text: "between us", final: true), speaker: .standard)
        #expect(writer.announcement(of: Self.event(.transcribed(said))).webhooks.isEmpty)
        #expect(writer.announcement(of: Self.event(.held(Identity(text: "ana"), true))).webhooks.isEmpty)
        #expect(writer.announcement(of: Self.event(.recordingStarted(RecordingID(text: "RC_1")))).webhooks.isEmpty)
    }

    @Test func withoutEndpointsNoWebhooksAreWritten() {
        #expect(WebhookWriter(to: []).announcement(of: Self.event(.started)).webhooks.isEmpty)
    }

    @Test func webhookBelongsToTheRoomsSession() {
        let (session, user) = (SessionID(), UserID())
        let webhooks = writer.announcement(of: Self.event(.started), session: session, user: user).webhooks
        #expect(webhooks.allSatisfy { $0.sessionID == session && $0.userID == user })
    }

    @Test func callWebhookIsNamedAfterTheChange() throws {
        let (ana, ben) = (CallParty.user(Identity(text: "ana")), CallParty.user(Identity(text: "ben")))
        let call = CallInfo(
            id: CallID(text: "c"), room: "call-c", seq: 1, status: .ringing, caller: ana,
            members: [CallMember(party: ana, status: .answered), CallMember(party: ben, status: .ringing)])
        let now = WallTime(milliseconds: 0)
        let records = [CallRecord(.call(.ringing), call), CallRecord(.member(ben, .invited), call)]
        let webhooks = records.flatMap { writer.announcement(of: $0, at: now).webhooks }.filter { $0.endpoint == Self.endpoints[0] }
        #expect(webhooks.map(\.event) == records.map(\.name))
        #expect(webhooks.allSatisfy { $0.room == "call-c" })
    }

    @Test func callStaysAnnouncedUntilItsEnd() throws {
        let ana = CallParty.user(Identity(text: "ana"))
        let call = CallInfo(
            id: CallID(text: "c"), room: "call-c", seq: 4, status: .completed, caller: ana,
            members: [CallMember(party: ana, status: .completed)])
        let effects = [CallRecord(.member(ana, .left), call), CallRecord(.call(.completed), call)].map {
            writer.announcement(of: $0, at: WallTime(milliseconds: 0)).effect
        }
        let closing = effects.map { if case .closes = $0 { true } else { false } }
        let opening = effects.map { if case .opens = $0 { true } else { false } }
        #expect(closing == [false, true] && opening == [false, false], "a kill between the two must not hide the call's end")
    }
}
