import Wire

/// What the generator writes into each frame: its header, and a mark of 16 bytes inside the Opus packet, behind the TOC byte that stays as
/// it was (RFC 6716 section 3.1; the relay opens no packet, but a tool that looks at it finds a valid one of 20 ms).
///
///     0 header (12)   12 TOC   13 u64 send time, ns   21 u32 track number   25 u32 sequence   29 speech, as it was encoded
struct FrameStamp: Sendable {
    static let timeOffset = 13
    static let trackOffset = 21
    static let sequenceOffset = 25
    /// A frame with room for the mark; shorter packets are filled up to it.
    static let leastFrameBytes = 29

    var time: UInt64
    var track: UInt32
    var sequence: UInt32

    init(time: UInt64, track: UInt32, sequence: UInt32) {
        self.time = time
        self.track = track
        self.sequence = sequence
    }

    /// Reads a mark; the frame must have `leastFrameBytes`.
    init(reading frame: UnsafeRawPointer) {
        time = frame.loadUnaligned(fromByteOffset: Self.timeOffset, as: UInt64.self)
        track = frame.loadUnaligned(fromByteOffset: Self.trackOffset, as: UInt32.self)
        sequence = frame.loadUnaligned(fromByteOffset: Self.sequenceOffset, as: UInt32.self)
    }

    /// Patches a frame that is a copy of a prepared one (`SpeechPackets`): what does not change from frame to frame is there.
    func write(to frame: UnsafeMutableRawPointer, flags: FrameFlags, alias: UInt16, timestamp: UInt32) {
        frame.storeBytes(of: flags.rawValue, toByteOffset: 1, as: UInt8.self)
        frame.storeBytes(of: alias.bigEndian, toByteOffset: 2, as: UInt16.self)
        frame.storeBytes(of: UInt16(truncatingIfNeeded: sequence).bigEndian, toByteOffset: 4, as: UInt16.self)
        frame.storeBytes(of: timestamp.bigEndian, toByteOffset: 8, as: UInt32.self)
        frame.storeBytes(of: time, toByteOffset: Self.timeOffset, as: UInt64.self)
        frame.storeBytes(of: track, toByteOffset: Self.trackOffset, as: UInt32.self)
        frame.storeBytes(of: sequence, toByteOffset: Self.sequenceOffset, as: UInt32.self)
    }
}
