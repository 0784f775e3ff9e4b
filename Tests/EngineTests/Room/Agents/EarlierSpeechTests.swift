import Testing
import Wire

@testable import Engine

/// Whose speech a room has kept, and who gets it.
struct EarlierSpeechTests {
    private var world = RoomWorld()

    private mutating func expect(_ agent: Identity = "helper", _ isExpected: Bool = true) {
        world.receive(.administered(.agentExpected(agent, isExpected)))
    }

    /// The subscriptions of the last step that begin with earlier speech.
    private var earlier: [TrackAlias: Room.EarlierSpeechLimit] {
        world.effects.reduce(into: [:]) { found, effect in
            if case .patch(.subscribe(_, let alias, _, let options)) = effect { found[alias] = options.earlier }
        }
    }

    @Test mutating func nothingIsKeptWithoutAJob() throws {
        let ann = world.join("ann")
        _ = try world.publish(ann)
        world.join("helper", kind: .agent)
        #expect(world.kept.isEmpty && earlier.isEmpty)
        // It is there already.
        expect()
        #expect(world.kept.isEmpty)
    }

    @Test mutating func microphonesOfUsersAreKeptWhileAnAgentIsExpected() throws {
        let (ann, bob, egress) = (world.join("ann"), world.join("bob"), world.join("recorder", kind: .egress))
        let first = try world.publish(ann)
        expect()
        #expect(world.kept == [first.alias])
        let second = try world.publish(bob)
        _ = try world.publish(egress)
        _ = try world.publish(bob, PublishTrack(mode: .ahead))
        _ = try world.publish(bob, PublishTrack(source: .assistant))
        #expect(world.kept == [first.alias, second.alias])
        world.send(ann, .unpublish(first.sid))
        #expect(world.kept == [second.alias])
    }

    @Test mutating func agentGetsEarlierSpeechOnceAndThenNothingIsKept() throws {
        let ann = world.join("ann")
        let track = try world.publish(ann)
        expect()
        let helper = world.join("helper", kind: .agent)
        #expect(earlier == [track.alias: .all] && world.kept.isEmpty)
        #expect(world.trace.suffix(2) == ["patch subscribe helper to 1", "patch forget 1"])
        world.send(helper, .subscribe(track.sid, subscribed: false))
        world.send(helper, .subscribe(track.sid, subscribed: true))
        #expect(world.receives(helper, track) && earlier.isEmpty)
    }

    @Test mutating func nobodyElseGetsIt() throws {
        let ann = world.join("ann")
        _ = try world.publish(ann)
        expect()
        world.join("bob")
        #expect(earlier.isEmpty)
        // Of the job's name, but no agent; and an agent that nobody asked for.
        world.join("helper")
        #expect(earlier.isEmpty)
        world.join("other", kind: .agent)
        #expect(earlier.isEmpty && world.kept.count == 1)
    }

    @Test mutating func agentThatChoosesItsTracksGetsItWhenItSubscribes() throws {
        let ann = world.join("ann")
        let track = try world.publish(ann)
        expect()
        let helper = world.join("helper", kind: .agent, autoSubscribe: false)
        #expect(world.kept == [track.alias])
        world.send(helper, .subscribe(track.sid, subscribed: true))
        #expect(earlier == [track.alias: .all] && world.kept.isEmpty)
    }

    @Test mutating func endOfTheJobEndsIt() throws {
        let ann = world.join("ann")
        let track = try world.publish(ann)
        expect()
        expect("second")
        expect("helper", false)
        #expect(world.kept == [track.alias], "the second agent is expected still")
        expect("second", false)
        #expect(world.kept.isEmpty)
        world.join("helper", kind: .agent)
        #expect(earlier.isEmpty)
    }

    @Test mutating func replacementOfALostAgentDoesNotGetWhatThatOneHeard() throws {
        let ann = world.join("ann")
        let track = try world.publish(ann)
        expect("helper")
        expect("second")
        world.pass(.seconds(1))
        let helper = world.join("helper", kind: .agent)
        #expect(world.kept == [track.alias])
        world.pass(.seconds(1))
        world.receive(.left(helper, .signalClose))
        expect("helper")
        let asked = world.now
        world.pass(.seconds(1))
        world.join("helper", kind: .agent)
        #expect(earlier == [track.alias: .since(asked)])
    }

    @Test mutating func publisherThatResumesIsKeptOnItsNewShard() throws {
        var settings = RoomSettings()
        settings.resumeWindow = .seconds(30)
        world = RoomWorld(settings)
        let ann = world.join("ann")
        _ = try world.publish(ann)
        expect()
        world.receive(.connectionLost(ann, .signalClose))
        world.join("ann", resuming: "resume-ann")
        let line = try #require(world.trace.firstIndex { $0.hasPrefix("patch move") })
        #expect(world.trace[line + 1] == "patch keep 1")
    }

    @Test mutating func tracksOfARoomAreLimited() throws {
        expect()
        let ann = world.join("ann")
        var tracks: [TrackInfo] = []
        for _ in 0...Limits.earlierTracksPerRoomMax { tracks.append(try world.publish(ann)) }
        #expect(world.kept == Set(tracks.dropFirst().map(\.alias)))
    }

    @Test mutating func endOfTheRoomEndsIt() throws {
        let ann = world.join("ann")
        _ = try world.publish(ann)
        expect()
        world.receive(.administered(.delete))
        #expect(world.kept.isEmpty)
    }
}
