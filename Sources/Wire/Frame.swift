/// The 12-byte header in front of each Opus packet (docs/protocol/media.md, "Frames and bundles"), in network byte order.
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

    /// Parses and validates a header. Never reads past the end and never traps.
    ///
    /// Takes a pointer instead of a span because it runs once for each frame, directly on the C library's buffer.
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

    /// Reads the fields of a frame that is known to be at least `ProtocolLimits.frameHeaderBytes` long, without validation.
    @inlinable
    package init(unchecked base: UnsafeRawPointer) {
        flags = FrameFlags(rawValue: unsafe base.load(fromByteOffset: 1, as: UInt8.self))
        alias = TrackAlias(UInt16(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
        sequence = SequenceNumber(UInt16(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 4, as: UInt16.self)))
        level = AudioLevelByte(rawValue: unsafe base.load(fromByteOffset: 6, as: UInt8.self))
        epoch = unsafe base.load(fromByteOffset: 7, as: UInt8.self)
        timestamp = MediaTime(ticks: UInt32(bigEndian: unsafe base.loadUnaligned(fromByteOffset: 8, as: UInt32.self)))
    }

    /// The encoded header, to which the packet is appended.
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

/// The first byte of a binary message: version 1 in the upper two bits, then the type.
public enum FrameKind: UInt8, Sendable {
    case audio = 0b0100_0001
    /// The count or the lengths of a bundle are inconsistent.
    case bundle = 0b0100_0010
}

/// The flags byte of a frame header.
public struct FrameFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The first frame of a talkspurt, and of audio that follows a pause of 200 ms or more.
    public static let talkspurtStart = FrameFlags(rawValue: 0x80)
    /// The last frame of a talkspurt, if the sender knows it.
    public static let talkspurtEnd = FrameFlags(rawValue: 0x40)
    /// A packet that Opus produced for discontinuous transmission.
    public static let dtx = FrameFlags(rawValue: 0x20)
    /// The packet carries in-band forward error correction for the previous one.
    public static let inbandFEC = FrameFlags(rawValue: 0x10)
    /// The gateway dropped frames of this track before this one. Set by the gateway only.
    public static let discontinuity = FrameFlags(rawValue: 0x08)

    /// Bits that senders must leave 0: the gateway's own flag and the reserved bits.
    public static let forbiddenToSenders = FrameFlags(rawValue: 0x0F)
}

/// Voice activity bit and audio level (RFC 6464).
public struct AudioLevelByte: Hashable, Sendable {
    public var rawValue: UInt8

    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Parameter level: 0 (loudest) to 127 (silence), in -dBov; larger values count as 127.
    @inlinable
    public init(voice: Bool, level: Int) {
        rawValue = (voice ? 0x80 : 0) | UInt8(clamping: min(max(level, 0), 127))
    }

    /// Whether the sender detected voice in the frame.
    @inlinable
    public var isVoice: Bool { rawValue & 0x80 != 0 }

    /// 0 (loudest) to 127 (silence), in -dBov.
    @inlinable
    public var level: Int { Int(rawValue & 0x7F) }
}

/// Why a binary message is not a valid frame or bundle.
public enum FrameError: String, Error, Sendable, CaseIterable {
    /// Shorter than the 12-byte header.
    case short
    /// Longer than 1,500 bytes, or a bundle longer than 16 KiB.
    case long
    /// The version is not 1.
    case version
    /// Neither an audio frame nor, where one is allowed, a bundle.
    case kind
    /// A reserved bit is set, or the gateway's own 0x08.
    case flags
    /// A header without a packet.
    case empty
    /// The alias is 0.
    case alias
    /// A bundle's count or lengths do not add up.
    case bundle
}

/// Several whole frames in one binary message: `u8 version|type, u8 count, count × (u16 length, frame)`.
public enum Bundle {
    /// Calls `body` for each frame of a bundle, in order.
    ///
    /// All lengths are validated before the first call, so a malformed bundle delivers no frame at all. The frames themselves are not
    /// validated. Never traps on any input.
    @inlinable
    public static func forEachFrame(
        in message: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(FrameError) {
        guard message.count >= 2, unsafe message[0] == FrameKind.bundle.rawValue else { throw .bundle }
        guard message.count <= ProtocolLimits.messageBytesMax else { throw .long }
        let count = Int(unsafe message[1])
        guard 1...ProtocolLimits.bundleFramesMax ~= count else { throw .bundle }
        var offset = 2
        for _ in 0..<count {
            guard let length = unsafe length(at: offset, in: message), length <= message.count - offset - 2 else { throw .bundle }
            offset += 2 + length
        }
        guard offset == message.count else { throw .bundle }
        offset = 2
        for _ in 0..<count {
            guard let length = unsafe length(at: offset, in: message) else { return }
            unsafe body(UnsafeRawBufferPointer(rebasing: message[offset + 2..<offset + 2 + length]))
            offset += 2 + length
        }
    }

    @usableFromInline
    static func length(at offset: Int, in message: UnsafeRawBufferPointer) -> Int? {
        guard offset + 2 <= message.count else { return nil }
        return Int(UInt16(bigEndian: unsafe message.loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
    }

    /// Encodes frames as one bundle.
    ///
    /// - Precondition: 1 to 50 frames of 12 to 1,500 bytes each, at most 16 KiB with their lengths.
    public static func joining(_ frames: [[UInt8]]) -> [UInt8] {
        precondition(1...ProtocolLimits.bundleFramesMax ~= frames.count, "a bundle holds 1 to 50 frames")
        var message = [FrameKind.bundle.rawValue, UInt8(frames.count)]
        for frame in frames {
            message.append(UInt8(truncatingIfNeeded: frame.count >> 8))
            message.append(UInt8(truncatingIfNeeded: frame.count))
            message.append(contentsOf: frame)
        }
        precondition(message.count <= ProtocolLimits.messageBytesMax, "a bundle is at most 16 KiB")
        return message
    }
}
