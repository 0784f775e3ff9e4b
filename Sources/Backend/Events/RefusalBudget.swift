package import Wire

/// Decides which refusals are logged, so that an attacker can neither fill a disk nor hide the refusals of others.
///
/// Policy: `perSecondMax` lines per second, at most `perAddressMax` of them for one address. Further refusals are counted, and the count is
/// logged once the second is over. A pure value: time is an argument.
package struct RefusalBudget: Sendable {
    /// Lines per second, of all addresses together.
    package static let perSecondMax = 20
    /// Lines per second of one address.
    package static let perAddressMax = 5

    private var secondStart = Instant(nanoseconds: 0)
    private var logged = 0
    /// At most `perSecondMax` entries.
    private var loggedOfAddress: [String: Int] = [:]
    private var suppressed = 0

    package init() {}

    /// Whether this refusal is logged; otherwise it is counted.
    package mutating func admits(_ address: String, at now: Instant) -> Bool {
        if isOver(at: now) { begin(at: now) }
        let ofAddress = loggedOfAddress[address] ?? 0
        guard logged < Self.perSecondMax, ofAddress < Self.perAddressMax else {
            suppressed += 1
            return false
        }
        logged += 1
        loggedOfAddress[address] = ofAddress + 1
        return true
    }

    /// The number of refusals that were not logged, once their second is over; nil if there are none.
    package mutating func takeSuppressed(at now: Instant) -> Int? {
        guard suppressed > 0, isOver(at: now) else { return nil }
        defer { suppressed = 0 }
        return suppressed
    }

    private func isOver(at now: Instant) -> Bool { now >= secondStart + .seconds(1) }

    private mutating func begin(at now: Instant) {
        secondStart = now
        logged = 0
        loggedOfAddress.removeAll(keepingCapacity: true)
    }
}
