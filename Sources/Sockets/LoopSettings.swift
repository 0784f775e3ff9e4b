/// How a loop is set up.
package struct LoopSettings: Sendable {
    /// What the server shows to those who connect; nil for a loop that only connects to others.
    package var server: TLSFiles?
    /// Whom connections that we make trust; nil for a loop that only serves.
    package var client: ClientTrust?
    /// Connections at once, in all states; beyond it a new one is closed as soon as it is accepted.
    package var quota: ConnectionQuota
    /// How long a peer may take for TLS, and again for its request, in seconds.
    package var handshakeSecondsMax: Int

    package init(
        server: TLSFiles? = nil, client: ClientTrust? = nil, quota: ConnectionQuota = ConnectionQuota(limit: 60_000),
        handshakeSecondsMax: Int = 10
    ) {
        self.server = server
        self.client = client
        self.quota = quota
        self.handshakeSecondsMax = handshakeSecondsMax
    }
}

/// Whom a client trusts.
package enum ClientTrust: Sendable, Hashable {
    /// The system's authorities.
    case system
    /// The system's and those in this PEM file.
    case authority(path: String)
    /// Anybody: for experiments with self-signed certificates only.
    case anybody
}
