public import Foundation
internal import Synchronization

/// The tokens of one login.
public struct AccountTokens: Sendable, Hashable, Codable {
    /// For requests and channels.
    public var accessToken: String
    /// For new tokens; valid once.
    public var refreshToken: String
    /// When the access token expires, by this device's clock.
    public var expiresAt: Date

    public init(accessToken: String, refreshToken: String, expiresAt: Date) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiresAt = expiresAt
    }
}

/// Where an `Account` keeps its tokens between runs of the program, for example the Keychain. Tokens are secrets.
public protocol TokenStorage: Sendable {
    /// The tokens that were saved last; nil if there are none.
    func load() async throws -> AccountTokens?

    /// Replaces the tokens; nil removes them. Called before the new tokens are used.
    func save(_ tokens: AccountTokens?) async throws
}

/// Keeps tokens in memory, until the object is released.
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
