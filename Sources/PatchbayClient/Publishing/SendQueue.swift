internal import Wire

/// Encoded frames that wait because the socket accepts no more. Bounded: drops the oldest, since old live audio is worthless.
struct SendQueue {
    /// 2.5 s of one track at 20 ms a frame.
    static let framesMax = 128
    /// A minute at 20 ms a frame, the maximum lead of an `ahead` track.
    static let aheadFramesMax = 3_000

    private var frames: [[UInt8]] = []
    private var head = 0
    private let limit: Int

    init(limit: Int = framesMax) {
        self.limit = limit
    }

    var isEmpty: Bool { head == frames.count }
    var count: Int { frames.count - head }

    /// - Returns: the number of frames dropped to make room.
    mutating func append(_ frame: [UInt8]) -> Int {
        var dropped = 0
        while count >= limit {
            _ = popFirst()
            dropped += 1
        }
        frames.append(frame)
        return dropped
    }

    mutating func popFirst() -> [UInt8]? {
        guard head < frames.count else { return nil }
        let frame = frames[head]
        frames[head] = []
        head += 1
        if head == frames.count {
            frames.removeAll(keepingCapacity: true)
            head = 0
        } else if head > limit {
            frames.removeFirst(head)
            head = 0
        }
        return frame
    }

    /// - Returns: the number of frames removed.
    mutating func removeAll(where predicate: ([UInt8]) -> Bool) -> Int {
        let before = count
        frames.removeFirst(head)
        head = 0
        frames.removeAll(where: predicate)
        return before - count
    }

    /// - Returns: the number of frames removed.
    mutating func removeAll() -> Int {
        let dropped = count
        frames.removeAll()
        head = 0
        return dropped
    }
}

/// The send queues of a room: one for live tracks, and a longer one for `ahead` tracks, whose frames are better late than lost.
struct MediaSendQueues {
    private var live = SendQueue()
    private var ahead = SendQueue(limit: SendQueue.aheadFramesMax)

    var isEmpty: Bool { live.isEmpty && ahead.isEmpty }

    /// Whether a frame of this mode may be sent without queueing, as none waits before it.
    func canBypass(_ mode: TrackMode) -> Bool {
        mode == .ahead ? ahead.isEmpty : live.isEmpty
    }

    /// - Returns: the number of frames dropped to make room.
    mutating func append(_ frame: [UInt8], _ mode: TrackMode) -> Int {
        mode == .ahead ? ahead.append(frame) : live.append(frame)
    }

    /// The next frame to send, live frames first.
    mutating func popFirst() -> [UInt8]? {
        live.popFirst() ?? ahead.popFirst()
    }

    /// Removes the frames of a cleared `ahead` track.
    ///
    /// - Returns: the number of frames removed.
    mutating func removeAhead(of alias: TrackAlias) -> Int {
        let (high, low) = (UInt8(alias.value >> 8), UInt8(truncatingIfNeeded: alias.value))
        return ahead.removeAll { $0[2] == high && $0[3] == low }
    }

    /// - Returns: the number of frames removed.
    mutating func removeAll() -> Int {
        live.removeAll() + ahead.removeAll()
    }
}
