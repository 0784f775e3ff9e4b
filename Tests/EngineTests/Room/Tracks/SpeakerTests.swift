import Testing
import Wire

@testable import Engine

/// LiveKit's algorithm for active speakers.
struct SpeakerTests {
    @Test(arguments: [(160, 0.4), (200, 0.5), (400, 1.0), (500, 1.0), (159, nil), (0, nil)])
    func windowCountsIfTwoFifthsAreLoud(milliseconds: Int, level: Double?) {
        let window = TrackMeasurement(
            track: TrackSID(text: "TR_a"), windowMilliseconds: 400, activeMilliseconds: milliseconds, loudestLevel: 0)
        #expect(ActiveSpeakers.level(of: window) == level)
    }

    @Test func levelsAreDecibels() {
        #expect(ActiveSpeakers.linear[0] == 1 && ActiveSpeakers.linear.count == 128)
        for (level, linear) in [(20, 0.1), (35, 0.017_782_794), (40, 0.01), (60, 0.001), (120, 0.000_001)] {
            #expect(abs(ActiveSpeakers.linear[level] / linear - 1) < 1e-6)
        }
    }

    @Test(arguments: [
        TrackMeasurement(track: TrackSID(text: "TR_a"), windowMilliseconds: 0, activeMilliseconds: 0, loudestLevel: 0),
        TrackMeasurement(track: TrackSID(text: "TR_a"), windowMilliseconds: 400, activeMilliseconds: 400, loudestLevel: 128),
        TrackMeasurement(track: TrackSID(text: "TR_a"), windowMilliseconds: 400, activeMilliseconds: 400, loudestLevel: -1),
    ])
    func quietWindowHasNoLevel(window: TrackMeasurement) {
        #expect(ActiveSpeakers.level(of: window) == nil)
    }

    @Test(arguments: [(0, 0), (0.01, 0.125), (0.125, 0.125), (0.126, 0.25), (0.99, 1), (1, 1), (1.5, 1)])
    func levelsAreReportedInEighthsRoundedUp(level: Double, reported: Double) {
        #expect(ActiveSpeakers.quantised(level) == reported)
    }

    @Test func levelRisesOverTwoWindowsAndChangesAreReported() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        // A level of 10 is 0.316: smoothed 0.211, 0.281, 0.305.
        #expect(world.measure(.loud(track)) == [Speaker(participant: "ann", track: track.sid, level: 0.25, active: true)])
        #expect(world.measure(.loud(track)) == [Speaker(participant: "ann", track: track.sid, level: 0.375, active: true)])
        #expect(world.measure(.loud(track)) == nil)
    }

    @Test func softSpeakerIsActiveOnlyIfItLasts() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        // A level of 34 is 0.0200: smoothed 0.0133, 0.0177, 0.0192; active is what reaches 0.0178.
        #expect(world.measure(.loud(track, level: 34)) == nil)
        #expect(world.measure(.loud(track, level: 34)) == nil)
        #expect(world.measure(.loud(track, level: 34))?.map(\.level) == [0.125])
    }

    @Test func oneQuietWindowEndsSpeaking() throws {
        var world = RoomWorld()
        let track = try world.publish(world.join("ann"))
        for _ in 0..<5 { _ = world.measure(.loud(track, level: 0)) }
        #expect(world.measure(.quiet(track)) == [Speaker(participant: "ann", track: track.sid, level: 0, active: false)])
        #expect(world.measure(.quiet(track)) == nil)
        // Earlier windows have no weight any more.
        #expect(world.measure(.loud(track))?.map(\.level) == [0.25])
    }

    @Test func unmeasuredSpeakerStopsAfterTwoWindows() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let track = try world.publish(ann)
        _ = world.measure(.loud(track))
        world.pass(.milliseconds(799))
        #expect(world.effects.isEmpty)
        world.pass(.milliseconds(1))
        #expect(world.trace == ["speakersChanged > ann"])
        #expect(world.takeEvents(ann).last == .speakersChanged([Speaker(participant: "ann", track: track.sid, level: 0, active: false)]))
    }

    @Test func loudestTrackDeterminesTheParticipantsLevel() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let soft = try world.publish(ann)
        let loud = try world.publish(ann)
        let changes = world.measure(.loud(soft, level: 20), .loud(loud, level: 0))
        #expect(changes == [Speaker(participant: "ann", track: loud.sid, level: 0.75, active: true)])
    }

    @Test func loudestSpeakersComeFirstAndStoppedOnesLast() throws {
        var world = RoomWorld()
        let one = try world.publish(world.join("one"))
        let two = try world.publish(world.join("two"))
        let three = try world.publish(world.join("three"))
        #expect(world.measure(.loud(one, level: 10), .loud(three, level: 20))?.map(\.participant) == ["one", "three"])
        let changes = world.measure(.quiet(one), .loud(two, level: 20), .loud(three, level: 0))
        #expect(changes?.map(\.participant) == ["three", "two", "one"])
        #expect(changes?.map(\.active) == [true, true, false])
    }

    @Test(arguments: [1, 2, 4, 5, 9])
    func unchangedSpeakersAreNotReportedAgain(count: Int) throws {
        var world = RoomWorld()
        var tracks: [TrackInfo] = []
        for number in 0..<count { tracks.append(try world.publish(world.join("p\(number)"))) }
        let (some, all) = (tracks.map { TrackMeasurement.loud($0) }, tracks.map { TrackMeasurement.loud($0, level: 0) })
        for _ in 0..<9 { _ = world.measure(some) }
        #expect(world.measure(some) == nil)
        #expect(world.measure(all)?.count == count)
        #expect(world.measure([.quiet(tracks[count - 1])] + all.dropLast())?.last?.track == tracks[count - 1].sid)
    }

    @Test func changeOfTheLoudestTrackIsReported() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let (one, two) = (try world.publish(ann), try world.publish(ann))
        for _ in 0..<9 { _ = world.measure(.loud(one, level: 2), .loud(two, level: 20)) }
        #expect(world.measure(.loud(one, level: 2), .loud(two, level: 20)) == nil)
        for _ in 0..<9 { _ = world.measure(.loud(one, level: 2), .loud(two, level: 2)) }
        #expect(world.measure(.loud(one, level: 20), .loud(two, level: 2))?.map(\.track) == [two.sid])
    }

    @Test func equallyLoudSpeakersKeepPublishingOrder() throws {
        var world = RoomWorld()
        let one = try world.publish(world.join("one"))
        let two = try world.publish(world.join("two"))
        #expect(world.measure(.loud(two), .loud(one))?.map(\.participant) == ["one", "two"])
    }

    @Test func unpublishingOrLeavingEndsSpeaking() throws {
        var world = RoomWorld()
        let ann = world.join("ann")
        let bob = world.join("bob")
        let cid = world.join("cid")
        let hers = try world.publish(ann)
        let his = try world.publish(bob)
        _ = world.measure(.loud(hers), .loud(his))
        world.send(ann, .unpublish(hers.sid))
        #expect(world.trace.last == "speakersChanged > ann bob cid")
        world.discardEvents()
        world.receive(.left(bob, .signalClose))
        #expect(world.takeEvents(cid).words == ["trackUnpublished", "speakersChanged", "participantLeft"])
    }

    @Test func measurementsOfUnknownTracksAreIgnored() {
        var world = RoomWorld()
        world.join("ann")
        let window = TrackMeasurement(
            track: TrackSID(text: "TR_none"), windowMilliseconds: 400, activeMilliseconds: 400, loudestLevel: 0)
        #expect(world.measure(window) == nil)
    }
}

extension RoomWorld {
    /// The report after one more measurement window; nil if there was none.
    fileprivate mutating func measure(_ measurements: TrackMeasurement...) -> [Speaker]? { measure(measurements) }

    fileprivate mutating func measure(_ measurements: [TrackMeasurement]) -> [Speaker]? {
        pass(Limits.speakerInterval)
        receive(.measured(measurements))
        for case .send(.speakersChanged(let speakers), _) in effects { return speakers }
        return nil
    }
}
