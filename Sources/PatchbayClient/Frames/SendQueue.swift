/// Frames that wait because the socket takes no more. Bounded: the oldest go first, since live sound is fresh or worthless.
struct SendQueue {
    /// 2.5 s of one track at 20 ms a frame.
    static let framesMax = 128
    /// A minute of frames of 20 ms, as far ahead as a track may be sent.
    static let aheadFramesMax = 3_000

    private var frames: [[UInt8]] = []
    private var head = 0
    private let limit: Int

    init(limit: Int = framesMax) {
        self.limit = limit
    }

    var isEmpty: Bool { head == frames.count }
    var count: Int { frames.count - head }

    /// - Returns: how many frames were dropped to make room.
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

    /// - Returns: how many frames were thrown away.
    mutating func removeAll(where isMeant: ([UInt8]) -> Bool) -> Int {
        let before = count
        frames.removeFirst(head)
        head = 0
        frames.removeAll(where: isMeant)
        return before - count
    }

    /// - Returns: how many frames were thrown away.
    mutating func removeAll() -> Int {
        let dropped = count
        frames.removeAll()
        head = 0
        return dropped
    }
}
