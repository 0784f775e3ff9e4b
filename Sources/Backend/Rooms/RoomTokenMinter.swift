internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Wire

/// Mints room tokens for sessions and calls, and supplies the URL to connect to.
package struct RoomTokenMinter: Sendable {
    let keys: KeysInUse
    /// The URL at which clients reach the gateway; nil derives it from the request's Host header (development only).
    let publicURL: String?

    /// A token that admits to a room, and where.
    struct RoomToken {
        var url: String
        var text: String
    }

    /// In seconds. LiveKit's default, because a reconnecting client reuses its token.
    private static let lifetimeSeconds: Int64 = 6 * 3_600

    /// - Throws: 503 without a signing key, 400 without a URL.
    func check(host: String?) throws(HTTPError) {
        _ = try (signer(), url(host: host))
    }

    /// - Parameters:
    ///   - homeURL: leads to the room's home; nil: the gateway's URL.
    ///   - agents: assistants to dispatch to a room that the token opens.
    func roomToken(
        to room: String, for user: Identity, host: String?, homeURL: String? = nil, name: String = "", kind: ParticipantKind = .standard,
        sessionID: String? = nil,
        receivesText: Bool = true, lifetimeSeconds: Int64 = lifetimeSeconds, attributes: [String: String] = [:],
        agents: [TokenAgent]? = nil
    ) throws(HTTPError) -> RoomToken {
        let url = if let homeURL { homeURL } else { try url(host: host) }
        let now = WallClock.seconds
        let claims = AccessToken(
            identity: user.text, notBefore: now, expires: now + lifetimeSeconds, name: name, attributes: attributes, kind: kind,
            video: .joining(room), sessionID: sessionID, receivesText: receivesText,
            roomSettings: agents.map { TokenRoomSettings(agents: $0) })
        return RoomToken(url: url, text: try mint(claims))
    }

    /// A room token for a job's agent. It leads to the room's shard, unless the worker has reached the gateway at the public URL, where the
    /// shards' ports may be closed.
    ///
    /// - Parameters:
    ///   - host: the Host header of the worker's channel.
    ///   - homePort: the port of the room's shard; nil if there is only one shard or the room is not open.
    ///   - homeURL: leads to the room's home in a cluster; nil: the other rules apply.
    func jobToken(
        to room: String, for identity: Identity, host: String?, homePort: Int?, homeURL: String?, name: String, lifetimeSeconds: Int64,
        attributes: [String: String]
    ) throws(HTTPError) -> RoomToken {
        var url = try url(host: host)
        if let homeURL {
            url = homeURL
        } else if let host, publicURL.map({ !$0.hasSuffix("//" + host) }) ?? true {
            url = "wss://" + Self.replacingPort(of: host, by: homePort)
        }
        let now = WallClock.seconds
        let claims = AccessToken(
            identity: identity.text, notBefore: now, expires: now + lifetimeSeconds, name: name, attributes: attributes, kind: .agent,
            video: .joining(room))
        return RoomToken(url: url, text: try mint(claims))
    }

    /// A token that lists rooms.
    ///
    /// - Parameter room: the room that it also administers; nil for none.
    func administratorToken(room: String?, lifetimeSeconds: Int64) throws(HTTPError) -> String {
        var grant = VideoGrant()
        grant.roomList = true
        grant.roomCreate = true
        grant.room = room ?? ""
        grant.roomAdmin = room != nil
        let now = WallClock.seconds
        return try mint(AccessToken(identity: "", notBefore: now, expires: now + lifetimeSeconds, video: grant))
    }

    private static func replacingPort(of host: String, by port: Int?) -> String {
        guard let port else { return host }
        // The colons of an IPv6 address are within brackets.
        let end = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 } ?? host.endIndex
        return "\(host[..<end]):\(port)"
    }

    private func mint(_ claims: AccessToken) throws(HTTPError) -> String {
        let signer = try signer()
        do throws(MintError) {
            return try TokenMinter.mint(claims, with: signer)
        } catch {
            throw HTTPError(.noSigningKey, "the gateway cannot sign a room token: \(error)")
        }
    }

    private func signer() throws(HTTPError) -> IssuerKey {
        guard let signer = keys.current.signer else {
            throw HTTPError(
                .noSigningKey,
                "the gateway has no HS256 key to sign room tokens with; see `keys` in its configuration")
        }
        return signer
    }

    private func url(host: String?) throws(HTTPError) -> String {
        guard let url = publicURL ?? host.map({ "wss://" + $0 }) else {
            throw HTTPError(.hostMissing, "send a Host header; the room's URL is derived from it")
        }
        return url
    }
}
