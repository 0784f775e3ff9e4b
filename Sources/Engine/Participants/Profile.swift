internal import Wire

/// The properties of a participant that it may change: name, metadata and attributes.
///
/// The cost of an update depends only on its own size: attributes are modified in place, and their total size is maintained.
struct Profile: Sendable {
    private(set) var name: String
    private(set) var metadata: String
    private(set) var attributes: [String: String]
    /// Bytes of all keys and values.
    private var attributeBytes: Int

    init(name: String, metadata: String, attributes: [String: String]) {
        self.name = name
        self.metadata = metadata
        self.attributes = attributes
        attributeBytes = attributes.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// Roughly how many bytes its description takes as JSON.
    var encodedBytes: Int {
        Self.fixedBytes + name.utf8.count + metadata.utf8.count + attributeBytes + attributes.count * Self.bytesPerAttribute
    }

    private static let fixedBytes = 320
    /// Quotes, colon and comma.
    private static let bytesPerAttribute = 6

    /// Checks an update against the limits without changing anything. Linear in the update.
    func check(_ update: ParticipantUpdate) throws(RequestError) {
        guard (update.name?.utf8.count ?? 0) <= ProtocolLimits.participantNameBytesMax else {
            throw RequestError(.limitExceeded, "`name` is over \(ProtocolLimits.participantNameBytesMax) bytes")
        }
        guard (update.metadata?.utf8.count ?? 0) <= ProtocolLimits.metadataBytesMax else {
            throw RequestError(.limitExceeded, "`metadata` is over \(ProtocolLimits.metadataBytesMax) bytes")
        }
        guard let changes = update.attributes else { return }
        let bytes = changes.reduce(attributeBytes) { $0 + growth($1.key, $1.value) }
        guard bytes <= ProtocolLimits.attributesBytesMax else {
            throw RequestError(.limitExceeded, "all `attributes` together are over \(ProtocolLimits.attributesBytesMax) bytes")
        }
    }

    /// Applies an update. Linear in the update.
    ///
    /// - Returns: whether anything is different now.
    mutating func apply(_ update: ParticipantUpdate) -> Bool {
        var hasChanged = false
        if let name = update.name, name != self.name {
            self.name = name
            hasChanged = true
        }
        if let metadata = update.metadata, metadata != self.metadata {
            self.metadata = metadata
            hasChanged = true
        }
        for (key, value) in update.attributes ?? [:] where set(key, to: value) { hasChanged = true }
        return hasChanged
    }

    /// Sets one attribute; an empty value removes it.
    ///
    /// - Returns: whether its value is different now.
    mutating func set(_ key: String, to value: String) -> Bool {
        guard attributes[key] ?? "" != value else { return false }
        attributeBytes += growth(key, value)
        attributes[key] = value.isEmpty ? nil : value
        return true
    }

    /// Bytes by which setting an attribute increases the total.
    private func growth(_ key: String, _ value: String) -> Int {
        let old = attributes[key].map { key.utf8.count + $0.utf8.count } ?? 0
        return (value.isEmpty ? 0 : key.utf8.count + value.utf8.count) - old
    }
}

/// Decides when one participant's profile is sent, to others and in tokens for itself, and limits the cost of its changes.
///
/// Each `participant.updated` carries the whole description to everybody, and each token all of it again. Updates are
/// sent at once while the budget lasts; beyond it they coalesce, and the newest state is sent when the budget allows.
struct ProfileUpdates: Sendable {
    /// When the budget will be full again.
    private var paidOffAt = Instant(nanoseconds: 0)
    /// When a coalesced change is due.
    private(set) var updateDueAt: Instant?
    /// When the token is refreshed next.
    private(set) var tokenDueAt: Instant
    /// When the last token was due.
    private var lastTokenAt: Instant?

    private static let nanosecondsPerByte = 1_000_000_000 / Int64(Limits.profileBytesPerSecond)
    private static let burst = Duration.nanoseconds(Int64(Limits.profileBurstBytes) * nanosecondsPerByte)

    init(tokenDueAt: Instant) {
        self.tokenDueAt = tokenDueAt
    }

    /// Spends bytes if the budget is not used up. It may be overdrawn by one update.
    ///
    /// - Returns: false if the budget is used up.
    mutating func spend(_ bytes: Int, at now: Instant) -> Bool {
        guard paidOffAt < now + Self.burst else { return false }
        paidOffAt = max(paidOffAt, now) + .nanoseconds(Int64(bytes) * Self.nanosecondsPerByte)
        return true
    }

    /// Decides about an update after a change.
    ///
    /// - Returns: whether to send it now; otherwise it is due at `updateDueAt`.
    mutating func spendUpdate(_ bytes: Int, at now: Instant) -> Bool {
        let isAllowed = spend(bytes, at: now)
        updateDueAt = isAllowed ? nil : paidOffAt + (.zero - Self.burst) + .milliseconds(1)
        return isAllowed
    }

    /// An update was sent for another reason.
    mutating func recordUpdate() {
        updateDueAt = nil
    }

    // MARK: Tokens

    /// Decides about the token for a change: it is due now, or an interval after the last one.
    ///
    /// - Returns: whether to mint it now; otherwise it is due at `tokenDueAt`.
    mutating func takeTokenForChange(at now: Instant) -> Bool {
        if let due = lastTokenAt.map({ $0 + Limits.profileTokenInterval }), due > now {
            tokenDueAt = min(tokenDueAt, due)
            return false
        }
        lastTokenAt = now
        return true
    }

    /// - Returns: whether a token is due now.
    mutating func takeDueToken(at now: Instant) -> Bool {
        guard tokenDueAt <= now else { return false }
        lastTokenAt = now
        return true
    }

    /// A token was minted. The next regular one follows.
    mutating func recordToken(at now: Instant) {
        tokenDueAt = now + Limits.tokenRefreshInterval
    }
}
