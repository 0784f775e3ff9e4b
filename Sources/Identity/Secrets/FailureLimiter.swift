package import Wire

/// Limits failed authentications: a source with 20 failures in the last 60 seconds is rejected (HTTP 429).
///
/// Successful attempts are not recorded, so a busy office behind one address is not limited. The caller chooses the text that identifies a
/// source: preferably an IPv4 address or the /64 prefix of an IPv6 address.
///
/// Keeps at most 65,536 sources, about 25 MB. Beyond that, the source whose last failure is the oldest is evicted: an attacker with that many
/// addresses is not stopped by a limit per address. All operations take amortized constant time.
package struct FailureLimiter: Sendable {
    package static let addressesMaxByDefault = 65_536

    package enum Verdict: Sendable, Hashable {
        case allowed
        /// Reject without checking the token. `retryAfter` is above zero and at most 60 seconds.
        case limited(retryAfter: Duration)
    }

    private let addressesMax: Int
    private var slots: [Slot] = []
    private var slotOfAddress: [String: Int] = [:]
    private var freeSlots: [Int] = []
    /// Ends of the linked list of slots in use, ordered by last failure.
    private var oldest: Int?
    private var newest: Int?

    /// - Parameter addressesMax: at least 1.
    package init(addressesMax: Int = FailureLimiter.addressesMaxByDefault) {
        precondition(addressesMax > 0, "addressesMax must be positive")
        self.addressesMax = addressesMax
    }

    /// Sources that are currently tracked.
    package var addressCount: Int { slotOfAddress.count }

    /// Called before a token is checked.
    package func verdict(on address: String, at now: Instant) -> Verdict {
        guard let slot = slotOfAddress[address], let remaining = slots[slot].window.remainingBan(at: now) else { return .allowed }
        return .limited(retryAfter: remaining)
    }

    /// Records a failure, replacing the oldest if the ring is full.
    package mutating func recordFailure(from address: String, at now: Instant) {
        evictExpired(at: now)
        let slot: Int
        if let known = slotOfAddress[address] {
            slot = known
            unlink(slot)
        } else {
            if slotOfAddress.count == addressesMax, let oldest { evict(oldest) }
            slot = makeSlot(for: address)
        }
        slots[slot].window.record(at: now)
        linkAsNewest(slot)
    }
}

extension FailureLimiter {
    private struct Slot {
        var address: String
        var window = FailureWindow()
        var older: Int?
        var newer: Int?
    }

    /// Each slot is evicted once for each time it was created, hence amortized constant time.
    private mutating func evictExpired(at now: Instant) {
        while let oldest, slots[oldest].window.hasExpired(at: now) { evict(oldest) }
    }

    private mutating func makeSlot(for address: String) -> Int {
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            slots[slot] = Slot(address: address)
        } else {
            slot = slots.count
            slots.append(Slot(address: address))
        }
        slotOfAddress[address] = slot
        return slot
    }

    private mutating func evict(_ slot: Int) {
        unlink(slot)
        slotOfAddress[slots[slot].address] = nil
        slots[slot].address = ""
        freeSlots.append(slot)
    }

    private mutating func unlink(_ slot: Int) {
        let (older, newer) = (slots[slot].older, slots[slot].newer)
        if let older { slots[older].newer = newer } else { oldest = newer }
        if let newer { slots[newer].older = older } else { newest = older }
        slots[slot].older = nil
        slots[slot].newer = nil
    }

    private mutating func linkAsNewest(_ slot: Int) {
        slots[slot].older = newest
        if let newest { slots[newest].newer = slot } else { oldest = slot }
        newest = slot
    }
}

/// Times of the last failures of one source, in a ring of as many as are allowed.
struct FailureWindow: Sendable {
    /// Failures within `span` after which a source is limited (PROTOCOL, "Rejected connections").
    static let failuresMax = 20
    static let span = Duration.seconds(60)

    private var instants: InlineArray<20, Instant>
    private var count = 0
    /// Index of the next failure, and of the oldest once the ring is full.
    private var next = 0

    init() {
        instants = InlineArray(repeating: Instant(nanoseconds: 0))
    }

    /// Notes a failure. In a full ring the oldest makes room: only the last `failuresMax` matter.
    mutating func record(at now: Instant) {
        instants[next] = now
        next = (next + 1) % Self.failuresMax
        count = min(count + 1, Self.failuresMax)
    }

    /// Time until an attempt is allowed, at most `span`; nil if it is allowed now.
    func remainingBan(at now: Instant) -> Duration? {
        guard count == Self.failuresMax else { return nil }
        let remaining = Self.span - (now - instants[next])
        return remaining > .zero ? min(remaining, Self.span) : nil
    }

    /// Whether all failures are older than `span`.
    func hasExpired(at now: Instant) -> Bool {
        guard count > 0 else { return true }
        let last = instants[(next + Self.failuresMax - 1) % Self.failuresMax]
        return now - last >= Self.span
    }
}
