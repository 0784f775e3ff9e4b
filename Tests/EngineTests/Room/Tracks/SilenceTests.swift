import Testing
import Wire

@testable import Engine

struct SilenceTests {
    @Test func silenceIsReportedOnce() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        world.join("bob")
        _ = try world.publish(ann)
        world.discardEvents()
        world.pass(.milliseconds(9_999))
        #expect(world.effects.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["silence > ann bob"])
        #expect(world.takeEvents(ann) == [.silence("ann", milliseconds: 10_000)])
        world.pass(.minutes(2))
        #expect(world.effects.isEmpty)
    }

    @Test func soundStartsAnotherSilence() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        world.pass(.seconds(9))
        world.receive(.measured([.loud(track, level: 49)]))
        world.pass(.milliseconds(9_999))
        #expect(!world.trace.contains("silence > ann"))
        world.pass(.milliseconds(1))
        #expect(world.trace == ["silence > ann"])
        world.receive(.measured([.loud(track, level: 49)]))
        world.pass(.seconds(10))
        #expect(world.trace == ["silence > ann"])
    }

    @Test func softAudioIsSilence() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        world.pass(.seconds(9))
        world.receive(.measured([.loud(track, level: 50), .quiet(track)]))
        world.pass(.seconds(1))
        #expect(world.trace == ["silence > ann"])
    }

    @Test func soundOnOneOfSeveralTracksEndsTheSilence() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let first = try world.publish(ann)
        world.pass(.seconds(9))
        // Publishing another microphone is not a sound.
        let second = try world.publish(ann)
        world.receive(.measured([.quiet(first), .loud(second)]))
        world.pass(.seconds(9))
        #expect(!world.trace.contains("silence > ann"))
        world.send(ann, .mute(second.sid, muted: true))
        world.pass(.seconds(1))
        #expect(world.trace == ["silence > ann"])
    }

    @Test func inaudibleParticipantIsNotReportedAsSilent() throws {
        var world = RoomWorld()
        world.join("listener")
        let muted = world.join("muted")
        let track = try world.publish(muted)
        world.send(muted, .mute(track.sid, muted: true))
        let held = world.join("held")
        _ = try world.publish(held)
        world.send(held, .hold(true))
        let done = world.join("done")
        world.send(done, .unpublish(try world.publish(done).sid))
        world.pass(.minutes(4))
        #expect(world.effects.isEmpty)
    }

    @Test func silenceDetectionRestartsAfterMuteAndHold() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        world.pass(.seconds(9))
        world.send(ann, .mute(track.sid, muted: true))
        world.send(ann, .mute(track.sid, muted: false))
        world.pass(.seconds(9))
        #expect(world.effects.isEmpty)
        world.send(ann, .hold(true))
        world.send(ann, .hold(false))
        world.pass(.seconds(9))
        #expect(world.effects.isEmpty)
        world.pass(.seconds(1))
        #expect(world.trace == ["silence > ann"])
    }

    @Test func silenceLimitComesFromTheRoomSettings() throws {
        var world = RoomWorld(RoomSettings(silenceLimit: .milliseconds(500)))
        _ = try world.publish(world.join("ann"))
        world.pass(.milliseconds(500))
        #expect(world.trace == ["silence > ann"])
        var patient = RoomWorld(RoomSettings(silenceLimit: .zero))
        _ = try patient.publish(patient.join("ann"))
        patient.pass(.minutes(4))
        #expect(patient.effects.isEmpty)
    }

    @Test func lateDeadlineReportsTheActualSilence() {
        var watch = SilenceDetector(limit: .seconds(10))
        let start = Instant(nanoseconds: 0)
        watch.start(at: start)
        #expect(watch.deadline == start + .seconds(10))
        let early = watch.check(at: start + .milliseconds(9_999))
        let late = watch.check(at: start + .milliseconds(10_250))
        let again = watch.check(at: start + .seconds(30))
        #expect(early == nil && late == 10_250 && again == nil && watch.deadline == nil)
    }
}
