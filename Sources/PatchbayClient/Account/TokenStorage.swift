public import Foundation
internal import Synchronization

/// The tokens of one login.
public struct AccountTokens: Sendable, Hashable, Codable {
    /// The token for requests and channels.
    public var accessToken: String
    /// The token for renewal, valid once.
    public var refreshToken: String
    /// The expiry of the access token, by this device's clock.
    public var expiresAt: Date

    public init(accessToken: String, refreshToken: String, expiresAt: Date) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
    }
}

/// A storage for an `Account`'s tokens between runs of the program, for example the Keychain. Tokens are secrets.
public protocol TokenStorage: Sendable {
    /// Returns the tokens that were saved last; nil if there are none.
    func load() async throws -> AccountTokens?

    /// Replaces the tokens; nil removes them. Called before the new tokens are used.
    func save(_ tokens: AccountTokens?) async throws
}

/// A token storage in memory.
public final class MemoryTokenStorage: TokenStorage {
    private let tokens: Mutex<AccountTokens?>

    public init(_ tokens: AccountTokens? = nil) {
        self.tokens = Mutex(tokens)
    }

    public func load() -> AccountTokens? {
        tokens.withLock { $0 }
    }

    public func save(_ tokens: AccountTokens?) {
        self.tokens.withLock { $0 = tokens }
    }
}
