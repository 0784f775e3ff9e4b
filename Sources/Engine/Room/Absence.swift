package import Wire

/// A participant's socket is lost and its index is kept for it.
package struct ReconnectWindow: Sendable, Hashable {
    /// When the index is given up.
    package let until: Instant
    /// Why it will have left then: as the socket ended.
    package let reason: DisconnectReason

    package init(until: Instant, reason: DisconnectReason) {
        self.until = until
        self.reason = reason
    }
}
