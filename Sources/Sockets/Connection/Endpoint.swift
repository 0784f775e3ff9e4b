/// Where a server is, and what a client shows it.
package struct Endpoint: Sendable, Hashable {
    /// libwebsockets resolves a name, and the loop waits for as long as that takes.
    package var host: String
    package var port: Int
    /// With its query.
    package var path: String
    package var authorization: String?
    package var usesTLS: Bool

    package init(host: String, port: Int, path: String, authorization: String? = nil, usesTLS: Bool = true) {
        self.host = host
        self.port = port
        self.path = path
        self.authorization = authorization
        self.usesTLS = usesTLS
    }

    /// As the request's `Host` has it. With TLS lws cuts it at the first colon and holds the certificate against what is left, so there an
    /// IPv6 address is held against nothing.
    var hostField: String {
        if host.contains(":") && usesTLS { return host }
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)"
    }
}
