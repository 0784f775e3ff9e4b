package import Identity
package import Wire

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
