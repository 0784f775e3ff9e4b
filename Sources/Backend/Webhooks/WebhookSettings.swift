package import Identity
package import Sockets

/// Webhook endpoints and the key that signs webhooks.
package struct WebhookSettings: Sendable {
    /// Endpoints that receive all webhooks.
    package static let urlsMax = 16

    package var urls: [String]
    /// An HS256 key. Its issuer identifies the gateway to receivers.
    package var key: IssuerKey
    package var trust: ClientTrust

    package init(urls: [String], key: IssuerKey, trust: ClientTrust = .system) {
        self.urls = urls
        self.key = key
        self.trust = trust
    }
}
