/// A server's address, and the credentials that a client presents.
package struct Endpoint: Sendable, Hashable {
    /// A name is resolved by libwebsockets, which blocks the loop.
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

    /// The request's `Host`. With TLS, libwebsockets checks the certificate against the part before the first colon, so the certificate of an
    /// IPv6 address is not checked.
    var hostField: String {
        if host.contains(":") && usesTLS { return host }
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? name : "\(name):\(port)"
    }
}
