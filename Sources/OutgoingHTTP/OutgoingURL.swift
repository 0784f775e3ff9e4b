internal import Foundation

/// A checked URL of another server: `https://host[:port]/path[?query]`, or `http://` for servers that need no secrecy.
package struct OutgoingURL: Sendable, Hashable {
    let host: String

    /// - Throws: `OutgoingURLError`, whose description says how to fix the URL.
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
            throw OutgoingURLError("\"\(text)\" has an impossible port; use 1 to 65535")
        }
        guard !(host.hasPrefix("[") && scheme == "https") else {
            throw OutgoingURLError("\"\(text)\" has an IPv6 address; https:// needs a host name")
        }
        self.host = host
    }
}

/// Why a URL cannot be used.
package struct OutgoingURLError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
