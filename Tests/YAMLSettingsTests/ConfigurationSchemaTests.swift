import Testing

@testable import YAMLSettings

/// Wrong types in a configuration file: which setting, what it must be, and what it is.
struct ConfigurationSchemaTests {
    private func fault(_ yaml: String) -> String? {
        do {
            let file = try ConfigurationFile(yaml: yaml, name: "file")
            _ = try file.issuers()
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        ("port: high", "file: `port` must be a whole number, without quotes or a unit, not the text \"high\""),
        ("drain_timeout: 10s", "file: `drain_timeout` must be a whole number, without quotes or a unit, not the text \"10s\""),
        ("port: \"7880\"", "file: `port` must be a whole number, without quotes or a unit, not the text \"7880\""),
        ("port: 78.5", "file: `port` must be a whole number, without quotes or a unit, not 78.5"),
        ("port: [7880]", "file: `port` must be a whole number, without quotes or a unit, not a list"),
        ("shards:", "file: `shards` must be a whole number, without quotes or a unit, not empty"),
        ("record_sessions: \"yes\"", "file: `record_sessions` must be true or false, without quotes, not the text \"yes\""),
        ("room: {auto_create: 3}", "file: `room.auto_create` must be true or false, without quotes, not 3"),
        ("data: {a: b}", "file: `data` must be text, not a map"),
        ("cert: [a]", "file: `cert` must be text, not a list"),
        ("webhook: {urls: {a: b}}", "file: `webhook.urls` must be a list of texts, not a map"),
        ("webhook: {urls: https://a}", "file: `webhook.urls` must be a list of texts, not the text \"https://a\""),
        ("tls: off", "file: `tls` must be a map with fast_path, not false"),
        ("keys: [a]", "file: `keys` must be a map, such as `keys: {my-app: a-long-secret}`"),
        ("keys: {a: 1234567890123456}", "file: keys.a must be text; put the secret in quotes"),
        ("keys: {a: [x]}", "file: keys.a must be text; put the secret in quotes"),
        ("keys: {a: {secret: 7}}", "file: keys.a.secret must be text; put the secret in quotes"),
    ])
    func aWrongTypeIsNamed(yaml: String, says: String) {
        #expect(fault(yaml) == says)
    }

    @Test(arguments: ["node: 7", "node: no", "tls: {fast_path: off}", "allowed_origins: https://a.example", "webhook: {urls: [https://a]}"])
    func whatYAMLReadsAsAnotherTypeMayBeText(yaml: String) {
        #expect(fault(yaml) == nil)
    }

    @Test func secretsAreNotQuoted() throws {
        let said = try #require(fault("summaries: {api_key: [hunter2]}"))
        #expect(!said.contains("hunter2"))
    }

    @Test func settingsAreEqualInAnyOrderAndNotation() throws {
        let one = try ConfigurationFile(yaml: "room: {auto_create: true, empty_timeout: 3}\nkeys: {a: b, c: d}\n", name: "one")
        let other = try ConfigurationFile(yaml: "keys:\n  c: d\n  a: b\nroom: {empty_timeout: 3, auto_create: yes}\n", name: "other")
        #expect(one.settings == other.settings)
        #expect(one.settings.keys.sorted() == ["keys", "room.auto_create", "room.empty_timeout"])
    }
}
