import Testing
import Wire

@testable import PatchbayAgents

struct UsersOnHoldTests {
    private static let (ann, bob, helper) = (Identity(text: "ann"), Identity(text: "bob"), Identity(text: "assistant:helper"))

    private static func participant(_ identity: Identity, kind: ParticipantKind = .standard) -> ParticipantInfo {
        ParticipantInfo(
            sid: ParticipantSID(text: "PA_" + identity.text), identity: identity, name: "", kind: kind, metadata: "", attributes: [:],
            permission: Permission(), joinedAt: 0, tracks: nil)
    }

    private static func hello(_ users: Identity..., resumed: Bool? = nil, snapshot: Bool? = nil) -> Event {
        .hello(
            Hello(
                server: ServerInfo(version: "1", node: "n"),
                room: RoomInfo(sid: RoomSID(text: "RM_1"), name: "r", metadata: "", createdAt: 0, maxParticipants: 0),
                participant: participant(helper, kind: .agent), participants: users.map { participant($0) }, sessionId: nil,
                resumeToken: "t", resumed: resumed, snapshot: snapshot))
    }

    private static func left(_ user: Identity) -> Event { .participantLeft(user, reason: .clientInitiated) }

    /// What is reported after each event.
    private static func reports(_ events: Event...) -> [Bool?] {
        var holds = UsersOnHold()
        return events.map { holds.take($0) }
    }

    @Test func theAssistantPausesWithItsOnlyUser() {
        let reports = Self.reports(
            Self.hello(), .participantJoined(Self.participant(Self.ann)), .callHeld(by: Self.ann), .callHeld(by: Self.ann),
            .callResumed(by: Self.ann))
        #expect(reports == [nil, nil, true, nil, false])
    }

    @Test func oneUserOnHoldDoesNotPauseTheOthers() {
        let reports = Self.reports(
            Self.hello(Self.ann, Self.bob), .callHeld(by: Self.ann), .callHeld(by: Self.bob), .callResumed(by: Self.ann),
            .callResumed(by: Self.bob))
        #expect(reports == [nil, nil, true, false, nil])
    }

    @Test func aUserWhoLeavesOnHoldDoesNotPauseTheOtherForGood() {
        let reports = Self.reports(
            Self.hello(Self.ann, Self.bob), .callHeld(by: Self.ann), .callHeld(by: Self.bob), Self.left(Self.ann),
            .callResumed(by: Self.bob))
        #expect(reports == [nil, nil, true, nil, false])
    }

    @Test func aUserWhoComesBackIsNoLongerOnHold() {
        let reports = Self.reports(
            Self.hello(Self.ann), .callHeld(by: Self.ann), Self.left(Self.ann), .participantJoined(Self.participant(Self.ann)))
        #expect(reports == [nil, true, nil, false])
    }

    @Test func agentsAndRecordersAreNoUsers() {
        let clip = Self.participant(Identity(text: "speech:1"), kind: .agent)
        let recorder = Self.participant(Identity(text: "recorder"), kind: .egress)
        let reports = Self.reports(
            Self.hello(Self.ann), .participantJoined(clip), .participantJoined(recorder), .callHeld(by: Self.ann))
        #expect(reports == [nil, nil, nil, true])
    }

    @Test func afterAReconnectTheSnapshotCounts() {
        let resumed = Self.reports(Self.hello(Self.ann), .callHeld(by: Self.ann), Self.hello(Self.ann, resumed: true))
        #expect(resumed == [nil, true, nil], "missed events follow")
        let joined = Self.reports(
            Self.hello(Self.ann), .callHeld(by: Self.ann), Self.hello(Self.ann, resumed: false), .callHeld(by: Self.ann))
        #expect(joined == [nil, true, false, true], "the hold may have ended meanwhile")
        let moved = Self.reports(
            Self.hello(Self.ann), .callHeld(by: Self.ann), Self.hello(Self.ann, resumed: true, snapshot: true), .callHeld(by: Self.ann))
        #expect(moved == joined, "a snapshot replaces missed events")
    }
}
