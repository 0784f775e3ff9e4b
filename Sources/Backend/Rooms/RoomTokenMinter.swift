internal import HTTPServer
internal import HTTPTypes
internal import Identity
internal import Wire

/// Mints room tokens for sessions and calls, and supplies the URL to connect to.
package struct RoomTokenMinter: Sendable {
    let keys: KeysInUse
    /// The URL at which clients reach the gateway; nil derives it from the request's Host header (development only).
    let publicURL: String?

    struct Ticket {
        var url: String
        var token: String
    }

    /// In seconds. LiveKit's default, because a reconnecting client reuses its token.
    private static let lifetimeSeconds: Int64 = 6 * 3_600

    /// - Throws: 503 without a signing key, 400 without a URL.
    func check(host: String?) throws(HTTPError) {
        _ = try (signer(), url(host: host))
    }

    func ticket(
        to room: String, for user: Identity, host: String?, name: String = "", kind: ParticipantKind = .standard, sessionID: String? = nil,
        receivesText: Bool = true
    ) throws(HTTPError) -> Ticket {
        let (signer, url) = try (signer(), url(host: host))
        let now = WallClock.seconds
        let claims = AccessToken(
            identity: user.text, notBefore: now, expires: now + Self.lifetimeSeconds, name: name, kind: kind, video: .joining(room),
            sessionID: sessionID, receivesText: receivesText)
        do throws(MintError) {
            return Ticket(url: url, token: try TokenMinter.mint(claims, with: signer))
        } catch {
            throw HTTPError(.serviceUnavailable, "no_signing_key", "the gateway cannot sign a room token: \(error)")
        }
    }

    private func signer() throws(HTTPError) -> IssuerKey {
        guard let signer = keys.current.signer else {
            throw HTTPError(
                .serviceUnavailable, "no_signing_key",
                "the gateway has no HS256 key to sign room tokens with; see `keys` in its configuration")
        }
        return signer
    }

    private func url(host: String?) throws(HTTPError) -> String {
        guard let url = publicURL ?? host.map({ "wss://" + $0 }) else {
            throw HTTPError(.badRequest, "host_missing", "send a Host header; the room's URL is derived from it")
        }
        return url
    }
}
