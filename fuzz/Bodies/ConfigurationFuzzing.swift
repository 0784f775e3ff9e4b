private import Identity
private import YAMLSettings

/// Feeds the YAML of `serve` to its readers. A trap is a finding, and so is an error that is not one line for the operator.
enum ConfigurationFuzzing {
    static func readFile(_ bytes: [UInt8]) {
        attempt {
            let file = try ConfigurationFile(yaml: String(decoding: bytes, as: UTF8.self), name: "file")
            precondition(file.keys.isSubset(of: Setting.all.map(\.key)), "an unknown key is refused")
            precondition(file.settings == file.settings, "settings are equal to themselves")
            _ = file.provider
            attempt {
                let issuers = try file.issuers()
                _ = try? KeyRing(issuers)
            }
            attempt { _ = try file.outsideIssuer() }
            attempt { _ = try file.allowedOrigins() }
            attempt { _ = try file.assistants() }
            attempt { _ = try file.dispatchRules() }
        }
    }

    static func readVariable(_ bytes: [UInt8]) {
        attempt { _ = try IssuerReader.issuers(inVariable: String(decoding: bytes, as: UTF8.self)) }
    }

    private static func attempt(_ read: () throws -> Void) {
        do {
            try read()
        } catch {
            precondition(error is ConfigurationError, "an error of another kind: \(error)")
            precondition(!"\(error)".contains(where: \.isNewline), "an error of several lines: \(error)")
        }
    }
}
