internal import Engine
internal import Wire

/// All that was ever said, by whom, and who might get it. Each frame carries its number.
struct Ledger {
    struct Frame {
        let header: FrameHeader
        let track: TrackSID
        let stay: Stay
        let size: Int
        let mode: TrackMode
        /// How much audio it holds.
        let milliseconds: Double
        let sentAt: Instant
        /// False if its sender knew that it must not pass: muted, held, of another epoch, on a track that is not its own.
        let mayBeHeard: Bool
        /// Said after its sender had asked to be silenced: some may still hear it.
        let isDoubtful: Bool
        /// Said when all was well.
        let mustBeHeard: Bool
        /// When its publisher's shard let it through, if it did.
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

    /// Makes the frame's bytes.
    mutating func enter(
        _ header: FrameHeader, of track: TrackSID, _ mode: TrackMode = .live, milliseconds: Double = 20, by stay: Stay, mayBeHeard: Bool,
        in world: World
    ) -> [UInt8] {
        let number = UInt32(frames.count)
        let filling = world.chance.below(world.chance.chance(0.02) ? 1_400 : 120)
        let bytes =
            header.bytes + Self.mark + withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 0x55, count: filling)
        frames.append(
            Frame(
                header: header, track: track, stay: stay, size: bytes.count, mode: mode, milliseconds: milliseconds, sentAt: world.now,
                mayBeHeard: mayBeHeard, isDoubtful: stay.hasAskedForSilence,
                mustBeHeard: mayBeHeard && stay.mustBeHeard(track)))
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

    /// A frame's number; -1 if it is none of ours.
    static func number(of frame: [UInt8]) -> Int {
        let start = ProtocolLimits.frameHeaderBytes
        guard frame.count >= start + packetBytesMin, Array(frame[start..<start + 4]) == mark else { return -1 }
        return frame[start + 4..<start + 8].reduce(0) { $0 << 8 | Int($1) }
    }
}
