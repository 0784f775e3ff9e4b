/// Detects missing, late and duplicate frames of one track at one subscriber, by sequence number.
///
/// Uses the stamp's 32-bit sequence, because the header's 16 bits wrap after 22 minutes. The last 64 frames are tracked individually.
struct Reception: Sendable {
    enum Arrival: Hashable, Sendable {
        case inOrder
        /// `gap` frames before it have not arrived (yet).
        case after(gap: Int)
        /// Counted as missing before.
        case late
        case duplicate
    }

    private(set) var next: UInt32
    /// Bit i: frame `next - 1 - i` has arrived.
    private var seen = UInt64.max

    init(from first: UInt32 = 0) {
        next = first
    }

    mutating func record(_ sequence: UInt32) -> Arrival {
        let ahead = Int32(bitPattern: sequence &- next)
        if ahead >= 0 {
            seen = ahead >= 63 ? 1 : seen << UInt64(ahead + 1) | 1
            next = sequence &+ 1
            return ahead == 0 ? .inOrder : .after(gap: Int(ahead))
        }
        let back = UInt64(-Int64(ahead) - 1)
        // Too old to tell a late frame from a duplicate.
        guard back < 64 else { return .duplicate }
        guard seen & (1 << back) == 0 else { return .duplicate }
        seen |= 1 << back
        return .late
    }

    /// The number of missing frames at the end, if all frames before `sent` were sent.
    func missing(before sent: UInt32) -> Int {
        max(0, Int(Int32(bitPattern: sent &- next)))
    }

    /// The number of frames in a gap directly before `sequence` that are not older than `first`.
    static func part(of gap: Int, before sequence: UInt32, since first: UInt32) -> Int {
        min(gap, max(0, Int(Int32(bitPattern: sequence &- first))))
    }
}
