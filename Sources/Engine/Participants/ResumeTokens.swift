/// The resume tokens of a participant, of which the client presents the latest one that it has received.
///
/// They form a chain: the first token is random, and each resume makes the next one current, which is derived from a secret and its number.
/// A node that restores the room from an image therefore knows the tokens that the earlier node announced after the image, and no
/// token reveals a later one.
struct ResumeTokens: Sendable, Hashable, Decodable {
    /// The token of the current socket, announced by its `hello`.
    private(set) var current: String
    /// The token that was used last. Valid until the client confirms the resume.
    private(set) var former: String?
    /// Makes the next tokens. Nil in an image from a node of an earlier version.
    var chain: Chain?

    struct Chain: Sendable, Hashable, Decodable {
        let secret: ResumeSecret
        /// The number of the current token; that of the first one is 0. Wraps.
        var number: UInt32

        func token(after steps: UInt32, _ derive: ResumeTokenDerivation) -> String { derive(secret, number &+ steps) }
    }

    /// The tokens of a fresh join.
    init(_ admission: Admission) {
        current = admission.resumeToken
        chain = admission.resumeSecret.map { Chain(secret: $0, number: 0) }
    }

    /// The tokens from a resume on, or nil if the token that the client presents is not valid.
    ///
    /// - Parameters:
    ///   - token: of the client. Stays valid until `confirm`, in case the `hello` with the next one is lost.
    ///   - count: the number of tokens after the current one that are valid, too.
    ///   - admission: of the resume. Begins a chain if there is none.
    func renewed(
        by token: String, orAhead count: Int, _ admission: Admission, _ derive: ResumeTokenDerivation
    ) -> ResumeTokens? {
        guard let steps = steps(to: token, max: count, derive) else { return nil }
        var renewed = ResumeTokens(admission)
        if let chain {
            renewed.current = chain.token(after: steps + 1, derive)
            renewed.chain = Chain(secret: chain.secret, number: chain.number &+ steps &+ 1)
        }
        renewed.former = token
        return renewed
    }

    mutating func confirm() { former = nil }

    /// How far a valid token is ahead of the current one: 0 for the current and the former one. Nil for others.
    private func steps(to token: String, max count: Int, _ derive: ResumeTokenDerivation) -> UInt32? {
        let isCurrent = isSameSecret(token, current)
        let isFormer = former.map { isSameSecret(token, $0) } ?? false
        guard !isCurrent, !isFormer else { return 0 }
        guard let chain else { return nil }
        var found: UInt32?
        // All of them, so that the time does not tell which one is similar.
        for steps in 0..<UInt32(count) where isSameSecret(token, chain.token(after: steps + 1, derive)) { found = steps + 1 }
        return found
    }
}

/// Derives a resume token from a participant's secret and the token's number. A pure function; the shell has the cryptography.
package typealias ResumeTokenDerivation = @Sendable (_ secret: ResumeSecret, _ number: UInt32) -> String

/// The secret of a participant's resume tokens, known to nobody but the nodes of the gateway.
package struct ResumeSecret: Sendable, Hashable, Decodable {
    package let revealedText: String

    package init(_ text: String) {
        revealedText = text
    }

    package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }
}

// Neither secrets nor tokens are printed, dumped or reflected, and so the participants and images that have them can be.

extension ResumeSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<secret>" }
    package var debugDescription: String { "<secret>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension ResumeTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    var description: String { "<tokens>" }
    var debugDescription: String { "<tokens>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// Compares two secrets in a time that depends only on their lengths.
private func isSameSecret(_ left: String, _ right: String) -> Bool {
    guard left.utf8.count == right.utf8.count else { return false }
    return zip(left.utf8, right.utf8).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
}
