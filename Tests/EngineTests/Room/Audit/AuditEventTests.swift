import Testing
import Wire

@testable import Engine

/// Audit events of a room.
struct AuditEventTests {
    private static func room(_ reporting: RoomReporting = .events) -> RoomWorld {
        var settings = RoomSettings()
        settings.reporting = reporting
        return RoomWorld(settings)
    }

    private static func words(_ world: RoomWorld) -> [String] {
        world.auditEvents.map { String(String(describing: $0).prefix { $0 != "(" }) }
    }

    @Test func roomWithoutReportingRecordsNoEvents() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi", final: true)))
        world.receive(.administered(.delete))
        #expect(world.auditEvents.isEmpty)
    }

    @Test func auditEventsAreInOrderOfOccurrence() throws {
        var world = Self.room()
        let ann = world.join("ann")
        world.join("bob")
        let track = try world.publish(ann)
        world.send(ann, .hold(true))
        world.send(ann, .hold(false))
        world.receive(.left(ann, .clientInitiated))
        world.receive(.administered(.delete))
        #expect(
            Self.words(world) == ["started", "joined", "joined", "published", "held", "held", "unpublished", "left", "left", "finished"])
        #expect(world.auditEvents.contains { if case .published(let info, _) = $0 { info == track } else { false } })
        #expect(world.auditEvents.last == .finished(.roomDeleted))
    }

    @Test func auditEventsIncludeHiddenParticipants() {
        var world = Self.room()
        world.join("spy", permission: Permission(hidden: true))
        #expect(Self.words(world) == ["started", "joined"])
    }

    @Test func resumeCausesNoAuditEvents() {
        var world = Self.room()
        let ann = world.join("ann")
        world.receive(.connectionLost(ann, .signalClose))
        world.join("ann", resuming: "resume-ann")
        #expect(Self.words(world) == ["started", "joined"])
    }

    @Test func expiredResumeIsRecordedWithTheReasonOfTheLoss() {
        var world = Self.room()
        let ann = world.join("ann")
        world.join("bob")
        world.receive(.connectionLost(ann, .connectionTimeout))
        world.pass(.seconds(21))
        guard case .left(let info, "session-ann", .connectionTimeout)? = world.auditEvents.last else {
            Issue.record("\(world.auditEvents)")
            return
        }
        #expect(info.identity == "ann")
    }

    @Test func joinWithoutASlotIsRecordedAsAborted() {
        var settings = RoomSettings(maxParticipants: 1)
        settings.reporting = .events
        var world = RoomWorld(settings)
        world.join("ann")
        world.join("bob")
        guard case .aborted(let info, "session-bob", .joinFailure)? = world.auditEvents.last else {
            Issue.record("\(world.auditEvents)")
            return
        }
        #expect(info.identity == "bob")
    }

    @Test func auditEventCarriesTheRoomSnapshot() {
        var world = Self.room()
        world.join("ann")
        world.join("helper", kind: .agent)
        let counts = world.history.compactMap { effect -> Int? in
            if case .record(.joined, let room) = effect { room.participantCount } else { nil }
        }
        #expect(counts == [1, 1], "an agent does not count")
    }

    // MARK: Transcripts

    private static func said(_ world: RoomWorld) -> [Room.TranscribedSegment] {
        world.auditEvents.compactMap { if case .transcribed(let said) = $0 { said } else { nil } }
    }

    @Test func transcriptsAreRecordedOnlyIfConfigured() {
        var world = Self.room(.events)
        let ann = world.join("ann")
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi", final: true)))
        #expect(Self.said(world).isEmpty)
    }

    @Test func onlyFinalSegmentsAreRecordedOncePerRevision() {
        var world = Self.room(.eventsAndText)
        let ann = world.join("ann")
        for (rev, final) in [(0, false), (1, false), (2, true), (2, true), (1, true)] {
            world.send(ann, .segment(TranscriptSegment(id: "s1", rev: rev, role: .user, text: "hi \(rev)", final: final)))
        }
        #expect(Self.said(world).map(\.segment.text) == ["hi 2"])
        #expect(Self.said(world).first?.sessionID == "session-ann")
    }

    @Test func everyLaterRevisionOfARecordedSegmentIsRecordedWithItsNumber() {
        var world = Self.room(.eventsAndText)
        let ann = world.join("ann")
        for (rev, final) in [(0, false), (1, true), (2, true), (3, false), (3, true)] {
            world.send(ann, .segment(TranscriptSegment(id: "s1", rev: rev, role: .user, text: "hi \(rev)", final: final)))
            world.pass(.seconds(1))
        }
        let said = Self.said(world)
        #expect(said.map(\.segment.rev) == [1, 2, 3])
        #expect(said.map(\.segment.text) == ["hi 1", "hi 2", "hi 3"])
        #expect(said.map { $0.ended - $0.began } == [.seconds(1), .seconds(1), .seconds(1)], "a correction must not extend the segment")
    }

    @Test func interruptionOfAFinalSegmentIsRecordedAsALaterRevision() throws {
        var settings = RoomSettings()
        settings.reporting = .eventsAndText
        var call = try PlayoutWorld(settings)
        call.starts()
        let segment = TranscriptSegment(
            id: "s1", rev: 2, role: .assistant, text: "0123456789", final: true, startTs: call.time(0).ticks, endTs: call.time(1_000).ticks)
        call.world.send(call.helper, .segment(segment))
        call.pass(500)
        call.clear(publishedTo: 2_000)
        var corrected = segment
        (corrected.rev, corrected.text) = (9, "0123456789 and more")
        call.world.send(call.helper, .segment(corrected))
        let said = Self.said(call.world)
        #expect(said.map(\.segment.rev) == [2, 3, 9])
        #expect(said.map(\.segment.spokenText) == ["0123456789", "01234", "01234"])
    }

    @Test(arguments: [
        ("family \u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467} home", 9, "family \u{1F468}\u{200D}"), ("cafe\u{301} noir", 5, "cafe\u{301}"),
        ("a\r\nb", 2, "a\r"), ("abc", 9, "abc"), ("abc", -1, ""),
    ])
    func spokenTextIsCutByUnicodeScalars(text: String, count: Int, expected: String) {
        let segment = TranscriptSegment(id: "s", role: .assistant, text: text, spoken: .interrupted, spokenChars: count)
        #expect(Array(segment.spokenText.unicodeScalars) == Array(expected.unicodeScalars))
    }

    @Test func segmentTimesFollowTheTrackClock() throws {
        var world = Self.room(.eventsAndText)
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 48_000)))
        world.pass(.seconds(3))
        // Starts 500 ms into the talkspurt and lasts one second.
        let segment = TranscriptSegment(
            id: "s1", role: .user, track: track.sid, text: "hi", final: true, startTs: 72_000, endTs: 120_000)
        world.send(ann, .segment(segment))
        let said = try #require(Self.said(world).first)
        #expect(said.began == .milliseconds(-2_500) && said.ended == .milliseconds(-1_500))
        #expect(said.track == track.sid && !said.isRecorded)
    }

    @Test func withoutTimesASegmentBeginsWithItsFirstRevision() throws {
        var world = Self.room(.eventsAndText)
        let ann = world.join("ann")
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "h")))
        world.pass(.milliseconds(700))
        world.send(ann, .segment(TranscriptSegment(id: "s1", rev: 1, role: .user, text: "hi", final: true)))
        let said = try #require(Self.said(world).first)
        #expect(said.began == .milliseconds(-700) && said.ended == .zero)
    }

    @Test func implausibleTrackTimeIsIgnored() throws {
        var world = Self.room(.eventsAndText)
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.receive(.talkStarted(track.sid, at: MediaTime(ticks: 0)))
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi", final: true, startTs: 1 << 31, endTs: 1 << 31)))
        #expect(Self.said(world).first?.began == .zero)
    }

    @Test func playedPartOfAnInterruptedAnswerIsRecorded() throws {
        var settings = RoomSettings()
        settings.reporting = .eventsAndText
        var call = try PlayoutWorld(settings)
        call.starts()
        call.world.send(
            call.helper,
            .segment(
                TranscriptSegment(
                    id: "s1", role: .assistant, text: "0123456789", startTs: call.time(0).ticks, endTs: call.time(1_000).ticks)))
        call.pass(500)
        call.clear(publishedTo: 2_000)
        let said = try #require(Self.said(call.world).last)
        #expect(said.segment.spoken == .interrupted && said.segment.spokenChars == 5 && said.speaker == .agent)
        #expect(said.began == .milliseconds(-500))
    }
}
