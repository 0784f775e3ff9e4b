import Identity
import Testing

@testable import YAMLSettings

/// PATCHBAY_KEYS.
struct KeysVariableTests {
    @Test(arguments: [
        "my-app: a-secret, other: b-secret", #"{"my-app":"a-secret","other":"b-secret"}"#,
        "{my-app: a-secret,\n other: {secret: b-secret}}",
        " { my-app: a-secret, other: b-secret } ",
    ])
    func bracesAreOptionalAndJSONIsAccepted(text: String) throws {
        let issuers = try IssuerReader.issuers(inVariable: text)
        #expect(issuers.map(\.issuer) == ["my-app", "other"])
        #expect(try KeyRing(issuers).signer?.issuer == "my-app")
    }

    @Test(arguments: [
        ("{{ keys }}", "PATCHBAY_KEYS: line 1: a map cannot be a key"),
        ("my-app: {{ secret }}", "PATCHBAY_KEYS: line 1: a map cannot be a key"),
        (#"{{"a":"b"}}"#, "PATCHBAY_KEYS: line 1: a map cannot be a key"),
        ("a: b}\nport: {c: d", "PATCHBAY_KEYS is not valid YAML: line 2"),
        ("a: 12345678", "PATCHBAY_KEYS: keys.a must be text; put the secret in quotes"),
        ("my-app", "PATCHBAY_KEYS: keys.my-app must be text"), ("[a]", "PATCHBAY_KEYS: line 1: a list cannot be a key"),
    ])
    func anythingElseIsRefusedWithASentence(text: String, says: String) {
        let error = #expect(throws: ConfigurationError.self) { try IssuerReader.issuers(inVariable: text) }
        #expect(error?.description.hasPrefix(says) == true, "\(error?.description ?? "")")
    }

    @Test func anEmptyVariableHasNoKeys() throws {
        #expect(try IssuerReader.issuers(inVariable: "").isEmpty)
    }
}
