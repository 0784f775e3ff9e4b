internal import Synchronization
public import Wire

/// A received frame: header and Opus packet as published, except for the header flag 0x08, which the gateway may set.
public struct ReceivedFrame: Sendable, Hashable {
    public let header: FrameHeader
    /// One Opus packet (RFC 6716), 1 to 1,488 bytes.
    public let packet: [UInt8]
    /// When it was read from the socket, by `MediaClock`.
    public let arrivedAt: Instant
    /// Whether it was published before this agent subscribed (the event `talk.earlier`): such frames arrive at once, before live ones.
    public internal(set) var isEarlier: Bool

    public init(header: FrameHeader, packet: [UInt8], arrivedAt: Instant, isEarlier: Bool = false) {
        self.header = header
        self.packet = packet
        self.arrivedAt = arrivedAt
        self.isEarlier = isEarlier
    }
}

/// The queue from which a reader receives a track's frames.
enum FrameSink: Sendable {
    case stream(AsyncStream<ReceivedFrame>.Continuation)
    case inbox(FrameInbox)

    enum Outcome {
        case delivered
        /// Delivered, but the oldest frame was dropped.
        case overflowed
        /// The reader has ended.
        case abandoned
    }

    func put(_ frame: ReceivedFrame) -> Outcome {
        switch self {
        case .stream(let stream):
            switch stream.yield(frame) {
            case .enqueued: .delivered
            case .dropped: .overflowed
            case .terminated: .abandoned
            @unknown default: .delivered
            }
        // Players play what is said now.
        case .inbox(let inbox): frame.isEarlier ? .delivered : inbox.put(frame)
        }
    }

    /// Readers of streams see the epoch in each frame; a player must know at once.
    func clear(epoch: UInt8) {
        if case .inbox(let inbox) = self { inbox.clear(epoch: epoch) }
    }

    func finish() {
        switch self {
        case .stream(let stream): stream.finish()
        case .inbox(let inbox): inbox.finish()
        }
    }
}

/// Frames from the event loop to one reader that polls at its own pace. Bounded: drops the oldest frame.
final class FrameInbox: Sendable {
    private struct State {
        var frames: [ReceivedFrame] = []
        var isFinished = false
        var isAbandoned = false
        var clearedEpoch: UInt8?
    }

    private let state = Mutex(State())

    func put(_ frame: ReceivedFrame) -> FrameSink.Outcome {
        state.withLock { state in
            if state.isAbandoned { return .abandoned }
            state.frames.append(frame)
            guard state.frames.count > StreamLimits.framesMax else { return .delivered }
            state.frames.removeFirst()
            return .overflowed
        }
    }

    /// The track was cleared: frames of earlier epochs must not be played.
    func clear(epoch: UInt8) {
        state.withLock { $0.clearedEpoch = epoch }
    }

    /// No more frames will follow.
    func finish() {
        state.withLock { $0.isFinished = true }
    }

    /// The reader has ended.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.frames.removeAll()
        }
    }

    /// Takes all frames, whether no more will follow, and the new epoch if the track was cleared since the last call.
    func takeAll() -> (frames: [ReceivedFrame], isFinished: Bool, clearedEpoch: UInt8?) {
        state.withLock { state in
            defer {
                state.frames.removeAll(keepingCapacity: true)
                state.clearedEpoch = nil
            }
            return (state.frames, state.isFinished, state.clearedEpoch)
        }
    }
}
