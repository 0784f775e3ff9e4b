import Testing
import Wire

@testable import PatchbayAgents

/// How long an assistant stays with nobody to talk to.
struct AttendanceTests {
    private static let (ann, bob) = (Identity(text: "ann"), Identity(text: "bob"))
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func after(_ span: Duration) -> Instant { start + span }

    private static func begun() -> Attendance {
        var attendance = Attendance()
        attendance.begin(at: start)
        return attendance
    }

    @Test func theFirstUserIsWaitedForTwentySeconds() {
        let attendance = Self.begun()
        #expect(!attendance.isOver(at: Self.after(.milliseconds(19_999))) && attendance.isOver(at: Self.after(.seconds(20))))
    }

    @Test func whoEndsTheConversationIsNotWaitedFor() {
        var attendance = Self.begun()
        attendance.join(Self.ann)
        #expect(!attendance.isOver(at: Self.after(.seconds(3_600))))
        attendance.leave(Self.ann, mayReturn: false, at: Self.after(.seconds(1)))
        #expect(attendance.isOver(at: Self.after(.seconds(1))), "not even for as long as a first user")
    }

    @Test func whoseConnectionWasLostIsWaitedForTwentySeconds() {
        var attendance = Self.begun()
        attendance.join(Self.ann)
        attendance.leave(Self.ann, mayReturn: true, at: Self.after(.seconds(60)))
        #expect(!attendance.isOver(at: Self.after(.milliseconds(79_999))) && attendance.isOver(at: Self.after(.seconds(80))))
        attendance.join(Self.ann)
        attendance.leave(Self.ann, mayReturn: false, at: Self.after(.seconds(70)))
        #expect(attendance.isOver(at: Self.after(.seconds(70))), "came back and left")
    }

    @Test func aLostUserIsWaitedForWhenTheOtherLeaves() {
        var attendance = Self.begun()
        attendance.join(Self.ann)
        attendance.join(Self.bob)
        attendance.leave(Self.ann, mayReturn: true, at: Self.after(.seconds(5)))
        attendance.leave(Self.bob, mayReturn: false, at: Self.after(.seconds(10)))
        #expect(!attendance.isOver(at: Self.after(.seconds(24))) && attendance.isOver(at: Self.after(.seconds(25))))
    }

    @Test func aDepartureOfSomebodyElseChangesNothing() {
        var attendance = Self.begun()
        attendance.leave(Identity(text: "assistant:other"), mayReturn: false, at: Self.after(.seconds(15)))
        #expect(attendance.isOver(at: Self.after(.seconds(20))))
    }
}

struct UsersPresentTests {
    private static let (ann, bob, other) = (Identity(text: "ann"), Identity(text: "bob"), Identity(text: "assistant:other"))

    private static func participant(_ identity: Identity, kind: ParticipantKind = .standard) -> ParticipantInfo {
        ParticipantInfo(
            sid: ParticipantSID(text: "PA_" + identity.text), identity: identity, name: "", kind: kind, metadata: "", attributes: [:],
            permission: Permission(), joinedAt: 0, tracks: nil)
    }

    private static func hello(_ others: [ParticipantInfo], resumed: Bool? = nil, snapshot: Bool? = nil) -> Event {
        .hello(
            Hello(
                server: ServerInfo(version: "1", node: "n"),
                room: RoomInfo(sid: RoomSID(text: "RM_1"), name: "r", metadata: "", createdAt: 0, maxParticipants: 0),
                participant: participant(Identity(text: "assistant:helper"), kind: .agent), participants: others, sessionId: nil,
                resumeToken: "t", resumed: resumed, snapshot: snapshot))
    }

    /// What is reported for each event, in words.
    private static func reports(_ events: Event...) -> [[String]] {
        var users = UsersPresent()
        return events.map { event in
            users.take(event).map { report in
                switch report {
                case .userJoined(let who, _): "+\(who)"
                case .userLeft(let who, let mayReturn): "-\(who)\(mayReturn ? "?" : "")"
                default: "?"
                }
            }
        }
    }

    @Test func agentsAndRecordersNeitherComeNorLeave() {
        let agent = Self.participant(Self.other, kind: .agent)
        let recorder = Self.participant(Identity(text: "recorder"), kind: .egress)
        let reports = Self.reports(
            Self.hello([Self.participant(Self.ann), agent]), .participantJoined(recorder),
            .participantLeft(Self.other, reason: .clientInitiated),
            .participantJoined(agent), .participantLeft(Self.other, reason: .signalClose),
            .participantLeft(Self.ann, reason: .clientInitiated))
        #expect(reports == [["+ann"], [], [], [], [], ["-ann"]])
    }

    @Test(arguments: DisconnectReason.allCases)
    func onlyALostUserMayReturn(_ reason: DisconnectReason) {
        let farewells: [DisconnectReason] = [
            .clientInitiated, .userUnavailable, .userRejected, .participantRemoved, .roomDeleted, .roomClosed,
        ]
        let reports = Self.reports(Self.hello([Self.participant(Self.ann)]), .participantLeft(Self.ann, reason: reason))
        #expect(reports.last == [farewells.contains(reason) ? "-ann" : "-ann?"])
    }

    @Test func aSnapshotTellsWhoHasComeOrLeftMeanwhile() {
        let reports = Self.reports(
            Self.hello([Self.participant(Self.ann)]),
            Self.hello([Self.participant(Self.ann), Self.participant(Self.bob)], resumed: true, snapshot: true),
            Self.hello([Self.participant(Self.bob)], resumed: true, snapshot: true))
        #expect(reports == [["+ann"], ["+bob"], ["-ann?"]])
    }

    @Test func whoIsMissingAfterAReconnectHasLeft() {
        let reports = Self.reports(
            Self.hello([Self.participant(Self.ann), Self.participant(Self.bob)]), Self.hello([Self.participant(Self.bob)], resumed: false),
            .participantLeft(Self.ann, reason: .clientInitiated))
        #expect(reports[1].sorted() == ["+bob", "-ann?"] && reports[2].isEmpty)
    }

    @Test func afterAResumeTheMissedEventsTell() {
        let reports = Self.reports(
            Self.hello([Self.participant(Self.ann)]), Self.hello([], resumed: true), .participantLeft(Self.ann, reason: .clientInitiated))
        #expect(reports == [["+ann"], [], ["-ann"]])
    }
}
