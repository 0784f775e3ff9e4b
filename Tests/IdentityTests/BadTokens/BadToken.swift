import Testing

/// A token that must be rejected, and the expected error code.
struct BadToken: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: String
    let text: String

    init(_ story: String, _ code: String, _ text: String) {
        testDescription = story
        self.code = code
        self.text = text
    }

    /// A token that is rightly signed by the issuer with the secret; only its payload is wrong.
    init(_ story: String, _ code: String, payload: Payload) {
        self.init(story, code, payload.token)
    }

    init(_ story: String, _ code: String, rawPayload: String) {
        self.init(story, code, Forge.token(payload: rawPayload, .secret(Issuers.secret)))
    }

    init(_ story: String, _ code: String, header: String) {
        self.init(story, code, Forge.token(header: header, payload: Payload().text, .secret(Issuers.secret)))
    }
}
