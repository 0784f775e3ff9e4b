/// A timestamp on a track's own 48 kHz clock (RFC 7587 section 4.1). It wraps every 24.8 hours.
public struct MediaTime: Hashable, Sendable {
    /// Ticks a second, whatever rate the audio was recorded at.
    public static let ticksPerSecond = 48_000
    public static let ticksPerMillisecond = 48

    public var ticks: UInt32

    @inlinable
    public init(ticks: UInt32) {
        self.ticks = ticks
    }

    /// How many ticks lie from `other` to here, negative if `other` is later. Right for distances under 12.4 hours.
    @inlinable
    public func distance(from other: MediaTime) -> Int32 {
        Int32(bitPattern: ticks &- other.ticks)
    }

    /// The time `count` ticks later.
    @inlinable
    public func advanced(by count: Int) -> MediaTime {
        MediaTime(ticks: ticks &+ UInt32(truncatingIfNeeded: count))
    }
}

/// A frame's number in its track: +1 for each published frame, wraps after 65,535 (RFC 3550 section 5.1, as in RTP).
public struct SequenceNumber: Hashable, Sendable {
    public var value: UInt16

    @inlinable
    public init(_ value: UInt16) {
        self.value = value
    }

    /// How many frames lie from `other` to here, negative if `other` is later. Right for distances under 32,768.
    @inlinable
    public func distance(from other: SequenceNumber) -> Int {
        Int(Int16(bitPattern: value &- other.value))
    }

    @inlinable
    public var next: SequenceNumber {
        SequenceNumber(value &+ 1)
    }
}
