internal import Identity
internal import Store
internal import Wire

/// Identities of a user's devices in the room of its session: the first one's is the user's id, further ones have a random suffix, so that they
/// are participants of their own.
enum SessionDevice {
    private static let separator = "."
    private static let suffixBytes = 4

    static func first(of user: UserID) -> Identity { Identity(text: user.text) }

    static func another(of user: UserID) -> Identity {
        Identity(text: user.text + separator + Hex.encode(randomBytes(suffixBytes)))
    }

    static func belongs(_ identity: Identity, to user: UserID) -> Bool {
        identity == first(of: user) || identity.text.hasPrefix(user.text + separator)
    }
}
