/// The 12 bytes before each Opus packet (PROTOCOL section 3), in network byte order.
///
///     0 u8 version (2 bits, = 1) | type (6 bits)   1 u8 flags   2 u16 alias   4 u16 sequence
///     6 u8 RFC 6464 level                          7 u8 epoch   8 u32 timestamp
public struct FrameHeader: Hashable, Sendable {
    public var flags: FrameFlags
    public var alias: TrackAlias
    public var sequence: SequenceNumber
    public var level: AudioLevelByte
    public var epoch: UInt8
    public var timestamp: MediaTime

    @inlinable
    public init(
        flags: FrameFlags = [], alias: TrackAlias, sequence: SequenceNumber, level: AudioLevelByte, epoch: UInt8 = 0,
        timestamp: MediaTime
    ) {
        self.flags = flags
        self.alias = alias
        self.sequence = sequence
        self.level = level
        self.epoch = epoch
        self.timestamp = timestamp
    }

    /// Reads a header, or says what is wrong with the frame. Never reads past the end, never traps.
    ///
    /// A pointer and not a span: this is the one parse on the frame's way, called for each frame from C's buffer.
    @inlinable
    public init(parsing frame: UnsafeRawBufferPointer) throws(FrameError) {
        guard frame.count >= ProtocolLimits.frameHeaderBytes else { throw .short }
        guard frame.count <= ProtocolLimits.frameBytesMax else { throw .long }
        guard let base = frame.baseAddress else { throw .short }
        guard unsafe base.load(as: UInt8.self) == FrameKind.audio.rawValue else {
            throw unsafe base.load(as: UInt8.self) >> 6 == 1 ? .kind : .version
        }
        let flags = FrameFlags(rawValue: unsafe base.load(fromByteOffset: 1, as: UInt8.self))
        guard flags.isDisjoint(with: .forbiddenToSenders) else { throw .flags }
        guard frame.count > ProtocolLimits.frameHeaderBytes else { throw .empty }
        unsafe self.init(unchecked: base)
        guard alias.value != 0 else { throw .alias }
    }

    /// Reads the fields of a frame that is known to have a header, whatever they are.
    @inlinable
    package init(unchecked base: UnsafeRawPointer) {
        flags = FrameFlags(rawValue: unsafe base.load(fromByteOffset: 1, as: UInt8.self))
        alias = TrackAlias(UInt16(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        sequence = SequenceNumber(UInt16(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 4, as: UInt16.self)))
        level = AudioLevelByte(rawValue: unsafe base.load(fromByteOffset: 6, as: UInt8.self))
        epoch = unsafe base.load(fromByteOffset: 7, as: UInt8.self)
        timestamp = MediaTime(ticks: UInt32(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    }

    /// The header as bytes, ready to have a packet appended.
    public var bytes: [UInt8] {
        [
            FrameKind.audio.rawValue, flags.rawValue,
            UInt8(alias.value >> 8), UInt8(truncatingIfNeeded: alias.value),
            UInt8(sequence.value >> 8), UInt8(truncatingIfNeeded: sequence.value),
            level.rawValue, epoch,
            UInt8(timestamp.ticks >> 24), UInt8(truncatingIfNeeded: timestamp.ticks >> 16),
            UInt8(truncatingIfNeeded: timestamp.ticks >> 8), UInt8(truncatingIfNeeded: timestamp.ticks),
        ]
    }
}

/// The first byte of a binary message: version 1 in the upper two bits, and what follows.
public enum FrameKind: UInt8, Sendable {
    case audio = 0b0100_0001
    case bundle = 0b0100_0010
}

public struct FrameFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The first frame of a talkspurt, and after every pause of 200 ms or more.
    public static let talkspurtStart = FrameFlags(rawValue: 0x80)
    /// The last frame of a talkspurt, if the sender knows it.
    public static let talkspurtEnd = FrameFlags(rawValue: 0x40)
    /// A packet that Opus made in its own discontinuous transmission.
    public static let dtx = FrameFlags(rawValue: 0x20)
    /// The packet carries in-band forward error correction of the one before.
    public static let inbandFEC = FrameFlags(rawValue: 0x10)
    /// The gateway dropped frames of this track before this one. Only the gateway may set it.
    public static let discontinuity = FrameFlags(rawValue: 0x08)

    /// What a sender must leave at 0: the gateway's own flag and the reserved bits.
    public static let forbiddenToSenders = FrameFlags(rawValue: 0x0F)
}

/// The RFC 6464 byte: voice bit and level.
public struct AudioLevelByte: Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Parameter level: 0 (loudest) … 127 (silence), in -dBov; larger values count as 127.
    @inlinable
    public init(voice: Bool, level: Int) {
        rawValue = (voice ? 0x80 : 0) | UInt8(clamping: min(max(level, 0), 127))
    }

    /// Whether the sender found voice in the frame.
    @inlinable
    public var isVoice: Bool { rawValue & 0x80 != 0 }

    /// 0 (loudest) … 127 (silence), in -dBov.
    @inlinable
    public var level: Int { Int(rawValue & 0x7F) }
}

/// Why a binary message is not a frame.
public enum FrameError: String, Error, Sendable, CaseIterable {
    /// Under 12 bytes.
    case short
    /// Over 1,500 bytes.
    case long
    /// The version is not 1.
    case version
    /// Neither audio nor, where one may be, a bundle.
    case kind
    /// A reserved bit, or the gateway's own 0x08.
    case flags
    /// A header without a packet.
    case empty
    /// Alias 0.
    case alias
    /// A bundle's count or lengths do not add up.
    case bundle
}
