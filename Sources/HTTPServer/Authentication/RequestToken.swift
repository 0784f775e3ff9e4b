package import Identity
internal import Wire

/// Extracts a request's token from the `Authorization` header, a subprotocol item or the query, in this order (PROTOCOL, "Location of the token").
package enum RequestToken {
    package static func extract(authorization: String?, subprotocols: [Substring], query: String?) throws(TokenError) -> String {
        if let authorization {
            let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw .malformed }
            return String(parts[1])
        }
        let prefix = ProtocolLimits.bearerSubprotocolPrefix
        if let item = subprotocols.first(where: { $0.hasPrefix(prefix) }) { return String(item.dropFirst(prefix.count)) }
        if let query, !query.isEmpty { return query }
        throw .missing
    }
}
