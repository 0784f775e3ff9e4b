/// The peers of plain connections that are trusted proxies, and how they state their clients' addresses.
package struct ProxyTrust: Sendable {
    package var networks: [IPNetwork]
    /// Every connection begins with a header of the PROXY protocol, version 2 (`ProxyHeader`).
    package var usesProxyProtocol: Bool

    package init(networks: [IPNetwork] = [], usesProxyProtocol: Bool = false) {
        self.networks = networks
        self.usesProxyProtocol = usesProxyProtocol
    }

    package func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The client on whose behalf a request arrives, by `X-Forwarded-For`: the rightmost address that is not a trusted proxy's.
    ///
    /// Each proxy appends the address that it received the request from, so everything left of the first untrusted address may be invented
    /// by the client and is ignored. An entry that is no address ends the search, and the entry to its right counts.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection. If it is not trusted, the header counts for nothing.
    ///   - field: the values of all `X-Forwarded-For` headers in their order, separated by commas; nil if there is none.
    package func client(of peer: IPAddress, forwardedFor field: String?) -> ForwardedClient {
        guard trusts(peer), let field else { return ForwardedClient(address: peer) }
        var nearest = peer
        for item in HeaderList.items(of: field).reversed() where !item.isEmpty {
            guard let address = Self.address(in: item) else { return ForwardedClient(address: nearest, isMalformed: true) }
            nearest = address
            if !trusts(address) { break }
        }
        return ForwardedClient(address: nearest)
    }

    /// An address as proxies write it: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`.
    private static func address(in item: Substring) -> IPAddress? {
        if item.hasPrefix("[") {
            guard let end = item.firstIndex(of: "]"), isPort(item[item.index(after: end)...]) else { return nil }
            return IPAddress(item[item.index(after: item.startIndex)..<end])
        }
        if let colon = item.firstIndex(of: ":"), colon == item.lastIndex(of: ":") {
            guard isPort(item[colon...]) else { return nil }
            return IPAddress(item[..<colon])
        }
        return IPAddress(item)
    }

    /// Whether a text is empty or a colon with up to five digits.
    private static func isPort(_ text: Substring) -> Bool {
        guard text.first == ":" else { return text.isEmpty }
        return 2...6 ~= text.utf8.count && text.utf8.dropFirst().allSatisfy { 48...57 ~= $0 }
    }
}

/// The address that `X-Forwarded-For` gives a request.
package struct ForwardedClient: Hashable, Sendable {
    package var address: IPAddress
    /// An entry that was evaluated is not an address.
    package var isMalformed = false
}

package struct RequestSource: Sendable {
    package var entrance: Entrance
    /// The client's address, as limits and logs see it.
    package var address: String
    /// False for a peer of the plain port that is not a trusted proxy.
    package var isTrusted: Bool
}
