/// Where a server is, and what a client shows it.
package struct Endpoint: Sendable, Hashable {
    package var host: String
    package var port: Int
    /// With its query.
    package var path: String
    package var authorization: String?
    package var usesTLS: Bool
    /// A numeric address of the host, if it is known; otherwise lws asks for one, and its loop waits as long as that takes.
    package var address: String?

    package init(
        host: String, port: Int, path: String, authorization: String? = nil, usesTLS: Bool = true, address: String? = nil
    ) {
        self.host = host
        self.port = port
        self.path = path
        self.authorization = authorization
        self.usesTLS = usesTLS
        self.address = address
    }

    /// As the request's `Host` has it, to which lws adds the port. With TLS it is also the name that the certificate is held against, and
    /// there an IPv6 address has no brackets.
    var hostField: String { host.contains(":") && !usesTLS ? "[\(host)]" : host }
}
