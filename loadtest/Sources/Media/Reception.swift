/// What one listener has had of one track: finds what is missing, late or repeated by the sequence alone.
///
/// Sequences are 32 bits wide here (the frame's own 16 bits wrap after 22 minutes); the last 64 are remembered one by one.
struct Reception: Sendable {
    enum Arrival: Hashable, Sendable {
        case inOrder
        /// So many before it have not come (yet).
        case after(gap: Int)
        /// One that had been counted as missing.
        case late
        case repeated
    }

    private(set) var next: UInt32
    /// Bit i: `next - 1 - i` has come.
    private var seen = UInt64.max

    init(from first: UInt32 = 0) {
        next = first
    }

    mutating func take(_ sequence: UInt32) -> Arrival {
        let ahead = Int32(bitPattern: sequence &- next)
        if ahead >= 0 {
            seen = ahead >= 63 ? 1 : seen << UInt64(ahead + 1) | 1
            next = sequence &+ 1
            return ahead == 0 ? .inOrder : .after(gap: Int(ahead))
        }
        let back = UInt64(-Int64(ahead) - 1)
        // Too old to know: a relay that holds back one frame for so long has lost it for a listener anyway.
        guard back < 64 else { return .repeated }
        guard seen & (1 << back) == 0 else { return .repeated }
        seen |= 1 << back
        return .late
    }

    /// How many at the end have not come, if everything before `sent` was sent.
    func missing(before sent: UInt32) -> Int {
        max(0, Int(Int32(bitPattern: sent &- next)))
    }

    /// How many of a gap of so many right before `sequence` are not older than `first`.
    static func part(of gap: Int, before sequence: UInt32, since first: UInt32) -> Int {
        min(gap, max(0, Int(Int32(bitPattern: sequence &- first))))
    }
}
