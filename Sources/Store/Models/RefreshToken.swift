/// A user's way to a new access token, good for one time.
package struct RefreshToken: Sendable {
    /// What the user's device keeps: 64 characters of base64url. The store has hashes of it only.
    package let text: String
    package let userID: UserID
    package let expiresAt: WallTime
}

package enum RefreshAnswer: Sendable {
    case renewed(RefreshToken)
    /// Unknown, expired, or of a family that was revoked.
    case unknown
    /// It was used before: somebody else may have it, so its whole family is revoked.
    case reused(UserID)
}
