import Engine
import Testing
import Wire

/// A room is recorded: who is told, and which frames are copied.
struct RecordingTests {
    @Test func everybodyIsToldAndEveryTrackIsTapped() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        _ = try world.publish(ann)
        world.happens(.administered(.startRecording))
        #expect(world.trace == ["recordingStarted > ann bob", "tap 1 by ann"])
        _ = try world.publish(ann)
        #expect(world.trace.last == "tap 2 by ann")
        world.happens(.administered(.stopRecording(nil, .asked)))
        #expect(world.trace == ["untap 1 by ann", "untap 2 by ann", "recordingStopped > ann bob"])
    }

    @Test func onlyWhatIsNotSoAlreadyIsTold() {
        var world = RoomWorld()
        world.join("ann")
        world.happens(.administered(.stopRecording(nil, .asked)))
        #expect(world.effects.isEmpty)
        world.happens(.administered(.startRecording))
        world.happens(.administered(.startRecording))
        #expect(world.effects.isEmpty)
    }

    @Test func aFailureOfAnEarlierRecordingEndsNone() throws {
        var world = RoomWorld()
        world.join("ann")
        world.happens(.administered(.startRecording))
        let first = try #require(world.room.recording)
        world.happens(.administered(.stopRecording(nil, .asked)))
        world.happens(.administered(.startRecording))
        world.happens(.administered(.stopRecording(first, .failed)))
        #expect(world.effects.isEmpty)
        #expect(world.room.recording != nil)
    }

    @Test func aNewcomerLearnsThatItIsRecorded() {
        var world = RoomWorld()
        world.join("ann")
        world.happens(.administered(.startRecording))
        #expect(world.news(world.join("bob")).words == ["hello", "recordingStarted"])
    }

    @Test func aTrackThatEndsIsUntappedBeforeItsPatchIsGone() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.happens(.administered(.startRecording))
        let track = try world.publish(ann)
        world.ask(ann, .unpublish(track.sid))
        #expect(world.trace.starts(with: ["untap 1 by ann", "patch unpublish 1 by ann"]))
        _ = try world.publish(ann)
        world.happens(.left(ann, .clientInitiated))
        #expect(world.trace.starts(with: ["untap 2 by ann", "patch unpublish 2 by ann"]))
    }

    @Test func whoComesBackIsTappedWhereItIsNow() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.happens(.administered(.startRecording))
        world.happens(.connectionLost(ann, .signalClose))
        world.join("ann", token: "next", resuming: "resume-ann")
        let place = try #require(world.trace.firstIndex { $0.hasPrefix("patch move 1") })
        #expect(world.trace[place + 1] == "tap 1 by ann")
        #expect(!world.trace.contains { $0.hasPrefix("untap") })
    }

    @Test func aRoomMayBeRecordedFromItsBeginning() throws {
        var settings = RoomSettings()
        settings.reporting = RoomReporting(records: true)
        var world = RoomWorld(settings)
        let ann = world.join("ann")
        #expect(world.news(ann).words == ["hello", "recordingStarted"])
        _ = try world.publish(ann)
        #expect(world.trace.contains("tap 1 by ann"))
        world.happens(.administered(.delete))
        #expect(world.trace.contains("untap 1 by ann"))
        #expect(world.trace.last == "closed")
    }

    @Test func whatIsSaidTellsThatItCanBeHeard() throws {
        var settings = RoomSettings()
        settings.reporting = RoomReporting(reportsText: true, records: true)
        var world = RoomWorld(settings)
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.ask(ann, .segment(TranscriptSegment(id: "s1", role: .user, text: "hi", final: true)))
        guard case .transcribed(let said)? = world.facts.last else {
            Issue.record("\(world.facts)")
            return
        }
        #expect(said.track == track.sid && said.isRecorded)
    }
}
