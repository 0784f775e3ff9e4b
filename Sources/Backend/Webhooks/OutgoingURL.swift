internal import Foundation
internal import Sockets

/// Another server's URL taken apart: `https://host[:port]/path[?query]`, or `http://` for one that needs no secrecy.
package struct OutgoingURL: Sendable, Hashable {
    let host: String
    let port: Int
    /// With its query, escaped as it was given.
    let path: String
    let usesTLS: Bool

    /// - Throws: with a sentence that says what to write instead.
    package init(_ text: String) throws(OutgoingURLError) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else {
            throw OutgoingURLError("\"\(text)\" is not a URL; write it as https://host/path")
        }
        guard let scheme = parts.scheme?.lowercased(), ["https", "http"].contains(scheme) else {
            throw OutgoingURLError("\"\(text)\" is neither https:// nor http://")
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw OutgoingURLError("the URL of \(host) has more than host, port, path and query")
        }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else {
            throw OutgoingURLError("\"\(text)\" has a port that there is not")
        }
        usesTLS = scheme == "https"
        // Foundation leaves an IPv6 address in its brackets.
        let isAddress = host.hasPrefix("[") && host.hasSuffix("]")
        // libwebsockets would hold the certificate against no name at all.
        guard !(isAddress && usesTLS) else { throw OutgoingURLError("\"\(text)\" has an IPv6 address; https:// takes a name") }
        self.host = isAddress ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? (usesTLS ? 443 : 80)
        let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
        path = (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath) + query
    }

    var endpoint: Endpoint { Endpoint(host: host, port: port, path: path, usesTLS: usesTLS) }
}

/// Why a URL cannot be used.
package struct OutgoingURLError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
