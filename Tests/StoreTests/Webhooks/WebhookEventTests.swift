import Foundation
import Store
import Testing
import Wire

@Suite("WebhookEvent")
struct WebhookEventTests {
    private static let room = WebhookRoom(
        RoomInfo(sid: RoomSID(text: "RM_1"), name: "den", metadata: "", createdAt: 1_795_000_000, maxParticipants: 0), participants: 1,
        publishers: 0)

    private static let id = WebhookID()

    private static func participant(_ kind: ParticipantKind = .standard) -> ParticipantInfo {
        ParticipantInfo(
            sid: ParticipantSID(text: "PA_1"), identity: Identity(text: "ana"), name: "", kind: kind, metadata: "", attributes: [:],
            permission: Permission(), joinedAt: 1_795_000_001, tracks: [])
    }

    private static func json(_ content: WebhookEvent.Content) -> String {
        String(decoding: WebhookEvent(id: id, createdAt: WallTime(milliseconds: 1_795_000_002_500), content: content).body, as: UTF8.self)
    }

    @Test("omits default values and writes 64-bit integers as strings")
    func room() {
        #expect(
            Self.json(.roomStarted(Self.room))
                == #"{"event":"room_started","room":{"sid":"RM_1","name":"den","creationTime":"1795000000","#
                + #""creationTimeMs":"1795000000000","numParticipants":1},"id":"EV_\#(Self.id)","createdAt":"1795000002"}"#)
    }

    @Test("writes kinds, states and reasons by name")
    func participant() {
        let joined = Self.json(.participantJoined(Self.room, Self.participant(.agent)))
        #expect(joined.contains(#""state":"ACTIVE""#) && joined.contains(#""kind":"AGENT""#))
        let left = Self.json(.participantLeft(Self.room, Self.participant(), .clientInitiated))
        #expect(left.contains(#""state":"DISCONNECTED""#) && left.contains(#""disconnectReason":"CLIENT_INITIATED""#))
        #expect(!left.contains(#""kind""#))
    }

    @Test("names only room and participant in track events")
    func track() {
        let description = PublishTrack(
            name: "mic", source: .assistant, codec: "opus", mode: .ahead, frameMs: 20, dtx: false, fec: false, channels: 1)
        let track = TrackInfo(
            sid: TrackSID(text: "TR_1"), alias: TrackAlias(1), participant: Identity(text: "ana"), description: description)
        let json = Self.json(.trackPublished(Self.room, ParticipantSID(text: "PA_1"), track))
        #expect(
            json.contains(#""participant":{"identity":"ana","sid":"PA_1"}"#)
                || json.contains(#""participant":{"sid":"PA_1","identity":"ana"}"#)
        )
        #expect(json.contains(#""room":{"name":"den","sid":"RM_1"}"#) || json.contains(#""room":{"sid":"RM_1","name":"den"}"#))
        #expect(
            json.contains(#""track":{"sid":"TR_1","name":"mic","disableDtx":true,"source":"MICROPHONE","mimeType":"audio/opus"}"#))
    }

    @Test("reports a summary without its text, in the lane of its session's room")
    func summary() throws {
        let session = Dialogues.session()
        let id = SummaryID()
        let event = WebhookEvent(id: WebhookID(), createdAt: Dialogues.start, content: .summaryReady(session, id))
        let json = try #require(try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
        #expect(json["event"] as? String == "summary_ready")
        #expect(json["summary"] as? [String: String] == ["id": id.text, "sessionId": session.id.text])
        #expect(event.lane == session.roomName)
    }

    private static func call(_ status: CallStatus) -> CallInfo {
        let (ana, ben) = (CallParty.user(Identity(text: "ana")), CallParty.user(Identity(text: "ben")))
        return CallInfo(
            id: CallID(text: "c"), room: "call-c", seq: 1, status: status, caller: ana, callerName: "Ana Secret", metadata: "secret",
            members: [CallMember(party: ana, status: .answered), CallMember(party: ben, status: .ringing)], startedAt: 0)
    }

    @Test("names a call's event after its status", arguments: CallStatus.allCases)
    func call(_ status: CallStatus) throws {
        let json = Self.json(.call(WebhookCall(Self.call(status))))
        #expect(json.hasPrefix(#"{"event":"call_\#(status.rawValue)""#))
        let call =
            #""call":{"id":"c","uuid":"d228cb69-711a-8caf-b891-2b704e4a8bda","roomName":"call-c","from":"ana","to":["ben"],"status":"\#(status.rawValue)","startedAt":"1970-01-01T00:00:00.000Z"}"#
        #expect(json.contains(call))
    }

    @Test("names a member's event after the member's state")
    func member() {
        let info = Self.call(.ringing)
        let json = Self.json(.call(WebhookCall(info, member: info.members[1])))
        #expect(json.hasPrefix(#"{"event":"call_member_invited""#) && json.contains(#""identity":"ben""#))
    }

    @Test("reports events of conversations without their text")
    func conversation() {
        let (conversation, author) = (ConversationID(), UserID())
        let said = ConversationEvent(number: 7, kind: .text, user: author, at: WallTime(milliseconds: 0), text: "secret")
        let json = Self.json(.conversation(ConversationNews(conversation: conversation, event: said, joined: [author])))
        let event = #"{"number":7,"type":"text","userId":"\#(author)","timestamp":"1970-01-01T00:00:00.000Z"}"#
        #expect(json.hasPrefix(#"{"event":"conversation.event","conversation":{"id":"\#(conversation)","event":\#(event)}"#), "\(json)")
        #expect(!json.contains("secret"))
    }

    @Test("omits the caller's metadata from call events")
    func callWithoutWords() {
        #expect(!Self.json(.call(WebhookCall(Self.call(.ringing)))).lowercased().contains("secret"))
    }
}
