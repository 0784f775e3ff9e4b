import Testing
import Wire

@testable import Engine

/// A room in which ann subscribes to an `ahead` track of her helper. Positions are milliseconds since the first frame.
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
        world.discardEvents()
    }

    func time(_ milliseconds: Int) -> MediaTime { first.advanced(by: milliseconds * MediaTime.ticksPerMillisecond) }

    func heard(_ milliseconds: Int, isEstimated: Bool = false) -> HeardPosition {
        HeardPosition(playedTs: time(milliseconds).ticks, playedMs: milliseconds, isEstimated: isEstimated)
    }

    mutating func queueReports(_ report: Room.PlayoutQueueReport) { world.receive(.playout(track.sid, report)) }

    mutating func starts(at milliseconds: Int = 0) {
        queueReports(.started(epoch: epoch, at: time(milliseconds), playsAt: world.now))
    }

    mutating func drains(at milliseconds: Int) { queueReports(.drained(epoch: epoch, end: time(milliseconds))) }

    mutating func receives(upTo milliseconds: Int) { queueReports(.received(epoch: epoch, end: time(milliseconds))) }

    /// An utterance of that length is released on time.
    mutating func plays(_ milliseconds: Int, from start: Int = 0) {
        starts(at: start)
        if milliseconds > 300 { pass(milliseconds - 300) }
        drains(at: start + milliseconds)
    }

    mutating func pass(_ milliseconds: Int) { world.pass(.milliseconds(milliseconds)) }

    @discardableResult
    mutating func mark(_ milliseconds: Int, _ name: String = "m") -> RoomWorld.Answer? {
        world.send(helper, .playoutMark(PlayoutMark(track: track.sid, ts: time(milliseconds).ticks, name: name)))
    }

    @discardableResult
    mutating func report(_ milliseconds: Int?, buffered: Double, epoch: UInt8? = nil, by subscriber: ParticipantHandle? = nil)
        -> RoomWorld.Answer?
    {
        let progress = PlayoutProgress(
            track: track.sid, epoch: epoch ?? self.epoch, playedTs: milliseconds.map { time($0).ticks }, bufferedMs: buffered)
        return world.send(subscriber ?? ann, .playoutProgress(progress))
    }

    /// Clears the track and reports the completion by the publisher's shard.
    @discardableResult
    mutating func clear(by requester: ParticipantHandle? = nil, publishedTo end: Int?) -> ClearedPlayout? {
        world.send(requester ?? ann, .playoutClear(track.sid, reason: "barge-in"))
        epoch &+= 1
        queueReports(.cleared(epoch: epoch, end: end.map(time)))
        for effect in world.effects { if case .reply(.cleared(let cut), _, _) = effect { return cut } }
        return nil
    }

    /// Results of marks since the last call.
    mutating func answers() -> [MarkResult] {
        world.takeEvents(helper).compactMap {
            guard case .playoutMarked(_, let name, let status, let time) = $0 else { return nil }
            return MarkResult(name: name, status: status, position: time.map { Int($0.distance(from: first)) / 48 })
        }
    }

    /// The retention positions sent to the track's queue.
    mutating func retentionUpdates(_ action: (inout PlayoutWorld) -> Void) -> [MediaTime?] {
        action(&self)
        return world.effects.compactMap { if case .patch(.retain(_, _, let time)) = $0 { .some(time) } else { nil } }
    }

    /// The playout events that ann received since the last call.
    mutating func annsPlayoutEvents() -> [String] {
        world.takeEvents(ann).words.filter { $0.hasPrefix("playout") }
    }
}

struct MarkResult: Hashable {
    var name: String
    var status: MarkStatus
    /// Milliseconds since the first frame.
    var position: Int?
}
