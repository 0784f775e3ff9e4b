import Engine
import Testing
import Wire

/// A room in which ann listens to what her helper says ahead of time. Places on the track are milliseconds since the first frame.
struct PlayoutWorld {
    var world: RoomWorld
    let ann: ParticipantHandle
    let helper: ParticipantHandle
    let track: TrackInfo
    /// Close to where timestamps wrap.
    let first = MediaTime(ticks: .max - 24_000)
    var epoch: UInt8 = 0

    init(_ settings: RoomSettings = RoomSettings()) throws {
        world = RoomWorld(settings)
        ann = world.join("ann")
        helper = world.join("helper", kind: .agent)
        track = try world.publish(helper, PublishTrack(source: .assistant, mode: .ahead))
        world.forgetNews()
    }

    func time(_ milliseconds: Int) -> MediaTime { first.advanced(by: milliseconds * MediaTime.ticksPerMillisecond) }

    func heard(_ milliseconds: Int, isEstimated: Bool = false) -> HeardPosition {
        HeardPosition(playedTs: time(milliseconds).ticks, playedMs: milliseconds, isEstimated: isEstimated)
    }

    mutating func tells(_ fact: Room.PlayoutQueueReport) { world.happens(.playout(track.sid, fact)) }

    mutating func begins(at milliseconds: Int = 0) {
        tells(.started(epoch: epoch, at: time(milliseconds), playsAt: world.now))
    }

    mutating func runsDry(at milliseconds: Int) { tells(.drained(epoch: epoch, end: time(milliseconds))) }

    /// An utterance of that length is let out as its time comes.
    mutating func speaks(_ milliseconds: Int, from start: Int = 0) {
        begins(at: start)
        if milliseconds > 300 { pass(milliseconds - 300) }
        runsDry(at: start + milliseconds)
    }

    mutating func pass(_ milliseconds: Int) { world.pass(.milliseconds(milliseconds)) }

    @discardableResult
    mutating func mark(_ milliseconds: Int, _ name: String = "m") -> RoomWorld.Answer? {
        world.ask(helper, .playoutMark(PlayoutMark(track: track.sid, ts: time(milliseconds).ticks, name: name)))
    }

    @discardableResult
    mutating func report(_ milliseconds: Int?, buffered: Double, epoch: UInt8? = nil, by subscriber: ParticipantHandle? = nil)
        -> RoomWorld.Answer?
    {
        let progress = PlayoutProgress(
            track: track.sid, epoch: epoch ?? self.epoch, playedTs: milliseconds.map { time($0).ticks }, bufferedMs: buffered)
        return world.ask(subscriber ?? ann, .playoutProgress(progress))
    }

    /// Clears, and lets the publisher's shard say that it is done.
    @discardableResult
    mutating func clear(by requester: ParticipantHandle? = nil, publishedTo end: Int?) -> ClearedPlayout? {
        world.ask(requester ?? ann, .playoutClear(track.sid, reason: "barge-in"))
        epoch &+= 1
        tells(.cleared(epoch: epoch, end: end.map(time)))
        for effect in world.effects { if case .reply(.cleared(let cut), _, _) = effect { return cut } }
        return nil
    }

    /// What became of marks since it was last asked.
    mutating func answers() -> [MarkAnswer] {
        world.news(helper).compactMap {
            guard case .playoutMarked(_, let name, let status, let time) = $0 else { return nil }
            return MarkAnswer(name: name, status: status, place: time.map { Int($0.distance(from: first)) / 48 })
        }
    }

    /// From where on the track's queue is told to keep what it let out.
    mutating func kept(_ happening: (inout PlayoutWorld) -> Void) -> [MediaTime?] {
        happening(&self)
        return world.effects.compactMap { if case .patch(.retain(_, _, let time)) = $0 { .some(time) } else { nil } }
    }

    /// The playout events that ann has heard since she was last asked.
    mutating func annHears() -> [String] {
        world.news(ann).words.filter { $0.hasPrefix("playout") }
    }
}

struct MarkAnswer: Hashable {
    var name: String
    var status: MarkStatus
    /// Milliseconds since the first frame.
    var place: Int?
}
