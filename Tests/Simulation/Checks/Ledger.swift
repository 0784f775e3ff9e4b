internal import Engine
internal import Wire

/// All frames and data messages ever sent, with their senders and permitted recipients. Each frame carries its number.
struct Ledger {
    struct Frame {
        let header: FrameHeader
        let track: TrackSID
        let session: PeerSession
        let size: Int
        let mode: TrackMode
        /// Duration of its audio.
        let milliseconds: Double
        let sentAt: Instant
        /// False if its sender knew that it must be dropped: muted, on hold, wrong epoch, or on a foreign track.
        let isDeliverable: Bool
        /// Sent after its sender had requested mute, hold or unpublish: delivery is optional.
        let isDoubtful: Bool
        /// Sent in the liveness phase.
        let mustBeDelivered: Bool
        /// When the publisher's shard admitted it; nil if it did not.
        var passedAt: Instant?
    }

    struct Message {
        let sender: SimulatedPeer
        let room: Int
        let recipients: Set<Identity>?
    }

    private(set) var frames: [Frame] = []
    private(set) var messages: [Message] = []

    private static let mark: [UInt8] = [0x4C, 0x65, 0x64, 0x67]
    private static let packetBytesMin = 8

    /// Records a frame and returns its bytes.
    mutating func enter(
        _ header: FrameHeader, of track: TrackSID, _ mode: TrackMode = .live, milliseconds: Double = 20, by session: PeerSession,
        isDeliverable: Bool,
        in world: World
    ) -> [UInt8] {
        let number = UInt32(frames.count)
        let filling = world.random.below(world.random.chance(0.02) ? 1_400 : 120)
        let bytes =
            header.bytes + Self.mark + withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 0x55, count: filling)
        frames.append(
            Frame(
                header: header, track: track, session: session, size: bytes.count, mode: mode, milliseconds: milliseconds,
                sentAt: world.now,
                isDeliverable: isDeliverable, isDoubtful: session.hasPendingSilence,
                mustBeDelivered: isDeliverable && session.mustBeDelivered(track)))
        return bytes
    }

    mutating func passed(_ number: Int, at now: Instant) {
        frames[number].passedAt = now
    }

    mutating func enterMessage(by sender: SimulatedPeer, to recipients: [Identity]?) -> Int {
        messages.append(
            Message(sender: sender, room: sender.room, recipients: recipients.flatMap { $0.isEmpty ? nil : Set($0) }))
        return messages.count - 1
    }

    /// A frame's number; -1 if it is not in the ledger.
    static func number(of frame: [UInt8]) -> Int {
        let start = ProtocolLimits.frameHeaderBytes
        guard frame.count >= start + packetBytesMin, Array(frame[start..<start + 4]) == mark else { return -1 }
        return frame[start + 4..<start + 8].reduce(0) { $0 << 8 | Int($1) }
    }
}
