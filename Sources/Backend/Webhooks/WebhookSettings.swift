package import Identity
package import Sockets

/// Whom webhooks are sent to, and what vouches for them.
package struct WebhookSettings: Sendable {
    /// Endpoints that are told everything.
    package static let urlsMax = 16

    package var urls: [String]
    /// An HS256 one; receivers know the gateway by its issuer.
    package var key: IssuerKey
    package var trust: ClientTrust

    package init(urls: [String], key: IssuerKey, trust: ClientTrust = .system) {
        self.urls = urls
        self.key = key
        self.trust = trust
    }
}
