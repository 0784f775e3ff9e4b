package import Identity
package import Wire

/// The address of a device's connection.
package struct ChannelAddress: Sendable {
    package let id: DeviceID
    package let shard: Int
    /// The shard's number for the connection.
    package let number: Int
    /// The Host header of its request.
    package let host: String?
    /// URLs of other nodes of a cluster, for its `hello`.
    package let nodes: [String]?
    /// Expiry of its first token, in seconds since 1970.
    package let expires: Int64

    package init(id: DeviceID, shard: Int, number: Int, host: String?, nodes: [String]? = nil, expires: Int64) {
        self.id = id
        self.shard = shard
        self.number = number
        self.host = host
        self.nodes = nodes
        self.expires = expires
    }

    /// Seconds until its first token expires.
    var expiresIn: Int64 { max(0, expires - WallClock.seconds) }
}

/// A command from a service to a shard about its devices. Disconnected devices are skipped.
package enum ChannelCommand: Sendable {
    case send([UInt8], to: [Int])
    /// Counts a handled request and sends the reply, if any.
    case refuse(RequestError.Code, [UInt8]?, to: Int)
    case close(Int, CloseReason)
}

/// The owner of a channel.
package enum ChannelOwner: Sendable {
    /// Still to be looked up in the store.
    case user(UserTokens.Subject)
    /// Identified as in rooms.
    case assistant(Identity)

    /// Whether two tokens have the same owner.
    package func isSame(as other: ChannelOwner) -> Bool {
        switch (self, other) {
        case (.user(.user(let one, _)), .user(.user(let other, _))): one == other
        case (.user(.external(let one)), .user(.external(let other))): one.issuer == other.issuer && one.subject == other.subject
        case (.assistant(let one), .assistant(let other)): one == other
        default: false
        }
    }
}

/// Verifies the tokens that open channels.
package struct ChannelTokens: Sendable {
    private let users: UserTokens?

    /// - Parameter users: nil for a gateway without accounts.
    package init(users: UserTokens?) {
        self.users = users
    }

    /// Verifies a token and returns its owner and expiry, in seconds since 1970.
    ///
    /// - Parameter keys: keys that may issue assistants' tokens.
    package func verify(_ token: String, keys: KeyRing) throws(TokenError) -> (owner: ChannelOwner, expires: Int64) {
        let now = WallClock.seconds
        do throws(TokenError) {
            guard let users else { throw .unknownIssuer }
            let (subject, expires) = try users.verify(token, now: now)
            return (.user(subject), expires)
        } catch .unknownIssuer {
            let claims = try TokenVerifier().verify(token, keys: keys, now: now)
            // A room token without agent rights is not enough.
            guard claims.video?.agent == true else { throw .unknownIssuer }
            guard case .assistant? = CallParty(text: claims.identity) else { throw .badIdentity }
            return (.assistant(Identity(text: claims.identity)), claims.expires)
        }
    }
}
