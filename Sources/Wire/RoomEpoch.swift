/// A term of one node as the home of a room. Each claim begins a new one.
///
/// Its number is counted in the broker's record instead of being the record's revision: a broker that has lost its last writes hands out the
/// same revisions again. Two nodes may then claim with the same number; `claim` tells their epochs apart, and orders them.
package struct RoomEpoch: Hashable, Comparable, Sendable, Codable {
    package let number: UInt64
    /// Random.
    package let claim: UInt64

    package init(number: UInt64, claim: UInt64) {
        (self.number, self.claim) = (number, claim)
    }

    package static func < (left: RoomEpoch, right: RoomEpoch) -> Bool { (left.number, left.claim) < (right.number, right.claim) }
}
