import Wire

/// The 16 bytes that the generator writes into each Opus packet, after its TOC byte (RFC 6716 section 3.1).
///
/// The gateway does not open packets; for other tools, the packet remains a valid one of 20 ms.
///
///     0 header (12)   12 TOC   13 u64 send time, ns   21 u32 track number   25 u32 sequence   29 encoded speech
struct FrameStamp: Sendable {
    static let timeOffset = 13
    static let trackOffset = 21
    static let sequenceOffset = 25
    /// Frames are padded to this length, so that the stamp fits.
    static let frameBytesMin = 29

    var time: UInt64
    var track: UInt32
    var sequence: UInt32

    init(time: UInt64, track: UInt32, sequence: UInt32) {
        self.time = time
        self.track = track
        self.sequence = sequence
    }

    /// Reads the stamp of a frame of at least `frameBytesMin` bytes.
    init(reading frame: UnsafeRawPointer) {
        time = frame.loadUnaligned(fromByteOffset: Self.timeOffset, as: UInt64.self)
        track = frame.loadUnaligned(fromByteOffset: Self.trackOffset, as: UInt32.self)
        sequence = frame.loadUnaligned(fromByteOffset: Self.sequenceOffset, as: UInt32.self)
    }

    /// Writes the stamp and the variable header fields into a copy of a frame from `SpeechPackets`.
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
