package import Wire

/// Counts failed authentications per source address, and refuses an address that had 20 in the last 60 seconds (HTTP 429).
///
/// Successful ones are not told to it, so a busy office behind one address is never refused for being busy. What counts as one source is
/// the caller's choice of text, at best an IPv4 address or the /64 of an IPv6 one, since whoever has one address of a /64 has all.
///
/// It remembers at most 65,536 addresses, some 25 MB. When one more comes, **the oldest is forgotten**: the address whose last failure is
/// the longest ago. Whoever commands that many addresses is not held up by a limit per address anyway.
/// All operations take constant time, amortised.
package struct FailureLimiter: Sendable {
    package static let addressesMaxByDefault = 65_536

    package enum Verdict: Sendable, Hashable {
        case allowed
        /// Refuse without looking at the token. `retryAfter` is above zero and at most 60 seconds.
        case limited(retryAfter: Duration)
    }

    private let addressesMax: Int
    private var slots: [Slot] = []
    private var slotOfAddress: [String: Int] = [:]
    private var freeSlots: [Int] = []
    /// Ends of the list of slots in use, ordered by their last failure.
    private var oldest: Int?
    private var newest: Int?

    /// - Parameter addressesMax: at least 1.
    package init(addressesMax: Int = FailureLimiter.addressesMaxByDefault) {
        precondition(addressesMax > 0, "a limiter that remembers nothing limits nothing")
        self.addressesMax = addressesMax
    }

    /// Addresses remembered now.
    package var addressCount: Int { slotOfAddress.count }

    /// To be asked before a token is looked at.
    package func verdict(on address: String, at now: Instant) -> Verdict {
        guard let slot = slotOfAddress[address], let remaining = slots[slot].window.remainingRefusal(at: now) else { return .allowed }
        return .limited(retryAfter: remaining)
    }

    /// To be told of each failed authentication, and of nothing else. `now` does not go back.
    package mutating func recordFailure(from address: String, at now: Instant) {
        forgetWhatIsOver(at: now)
        let slot: Int
        if let known = slotOfAddress[address] {
            slot = known
            unlink(slot)
        } else {
            if slotOfAddress.count == addressesMax, let oldest { forget(oldest) }
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

    /// Each address is forgotten once for each time it was made, hence constant time on average.
    private mutating func forgetWhatIsOver(at now: Instant) {
        while let oldest, slots[oldest].window.isOver(at: now) { forget(oldest) }
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

    private mutating func forget(_ slot: Int) {
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
