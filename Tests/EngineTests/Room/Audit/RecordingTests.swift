import Testing
import Wire

@testable import Engine

/// Recording: announcements, and which frames are copied.
struct RecordingTests {
    @Test func startingARecordingTapsAllTracksAndIsAnnounced() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        _ = try world.publish(ann)
        world.receive(.administered(.startRecording))
        #expect(world.trace == ["recordingStarted > ann bob", "tap 1 by ann"])
        _ = try world.publish(ann)
        #expect(world.trace.last == "tap 2 by ann")
        world.receive(.administered(.stopRecording(nil, .asked)))
        #expect(world.trace == ["untap 1 by ann", "untap 2 by ann", "recordingStopped > ann bob"])
    }

    @Test func repeatedRecordingCommandsCauseNoEvents() {
        var world = RoomWorld()
        world.join("ann")
        world.receive(.administered(.stopRecording(nil, .asked)))
        #expect(world.effects.isEmpty)
        world.receive(.administered(.startRecording))
        world.receive(.administered(.startRecording))
        #expect(world.effects.isEmpty)
    }

    @Test func stoppingAnEarlierRecordingHasNoEffect() throws {
        var world = RoomWorld()
        world.join("ann")
        world.receive(.administered(.startRecording))
        let first = try #require(world.room.recording)
        world.receive(.administered(.stopRecording(nil, .asked)))
        world.receive(.administered(.startRecording))
        world.receive(.administered(.stopRecording(first, .failed)))
        #expect(world.effects.isEmpty)
        #expect(world.room.recording != nil)
    }

    @Test func newcomerLearnsOfTheRecording() {
        var world = RoomWorld()
        world.join("ann")
        world.receive(.administered(.startRecording))
        #expect(world.takeEvents(world.join("bob")).words == ["hello", "recordingStarted"])
    }

    @Test func untapPrecedesTheRemovalOfThePatch() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.receive(.administered(.startRecording))
        let track = try world.publish(ann)
        world.send(ann, .unpublish(track.sid))
        #expect(world.trace.starts(with: ["untap 1 by ann", "patch unpublish 1 by ann"]))
        _ = try world.publish(ann)
        world.receive(.left(ann, .clientInitiated))
        #expect(world.trace.starts(with: ["untap 2 by ann", "patch unpublish 2 by ann"]))
    }

    @Test func resumedPublisherIsTappedOnItsNewShard() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.receive(.administered(.startRecording))
        world.receive(.connectionLost(ann, .signalClose))
        world.join("ann", resuming: "resume-ann")
        let position = try #require(world.trace.firstIndex { $0.hasPrefix("patch move 1") })
        #expect(world.trace[position + 1] == "tap 1 by ann")
        #expect(!world.trace.contains { $0.hasPrefix("untap") })
    }

    @Test func roomCanBeRecordedFromItsStart() throws {
        var settings = RoomSettings()
        settings.reporting = RoomReporting(records: true)
        var world = RoomWorld(settings)
        let ann = world.join("ann")
        #expect(world.takeEvents(ann).words == ["hello", "recordingStarted"])
        _ = try world.publish(ann)
        #expect(world.trace.contains("tap 1 by ann"))
        world.receive(.administered(.delete))
        #expect(world.trace.contains("untap 1 by ann"))
        #expect(world.trace.last == "closed")
    }

    @Test func recordedSegmentsAreMarkedAsRecorded() throws {
        var settings = RoomSettings()
        settings.reporting = RoomReporting(reportsText: true, records: true)
        var world = RoomWorld(settings)
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.send(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi", final: true)))
        guard case .transcribed(let said)? = world.auditEvents.last else {
            Issue.record("\(world.auditEvents)")
            return
        }
        #expect(said.track == track.sid && said.isRecorded)
    }
}
