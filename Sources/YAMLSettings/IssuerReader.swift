internal import Foundation
package import Identity
internal import SystemPackage

/// Reads token issuers from YAML: members of `keys`, `users`, and the variable PATCHBAY_KEYS.
package struct IssuerReader {
    /// The file or variable, for errors.
    let source: String
    /// The file to whose directory paths are relative; nil for the working directory.
    let file: String?

    /// The issuers of PATCHBAY_KEYS: the members of `keys`, with or without braces, so JSON too.
    ///
    /// - Throws: `ConfigurationError`.
    package static func issuers(inVariable text: String, named name: String = "PATCHBAY_KEYS") throws -> [IssuerSettings] {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let value = try YAMLValue.parse(text.hasPrefix("{") ? text : "{\(text)}", source: name)
        guard let keys = value?.map else {
            throw ConfigurationError("\(name) must be a map, such as `my-app: a-long-secret` or `{\"my-app\": \"a-long-secret\"}`")
        }
        return try IssuerReader(source: name, file: nil).issuers(keys)
    }

    /// Each has a secret, or a map with `algorithm` and `secret` or `public_key_file`. In the order of the document, because the first key with
    /// a secret signs.
    func issuers(_ keys: YAMLMap) throws -> [IssuerSettings] {
        try keys.names.compactMap { name in keys[name].map { (name, $0) } }.map { issuer, value in
            if let fields = value.map { return try self.issuer(issuer, fields) }
            return IssuerSettings(issuer: issuer, algorithm: .hs256, key: try secret(value, of: "keys.\(issuer)"))
        }
    }

    func issuer(_ issuer: String, _ fields: YAMLMap) throws -> IssuerSettings {
        for field in fields.names.sorted() where !["algorithm", "secret", "public_key_file"].contains(field) {
            let known = ["algorithm", "secret", "public_key_file"].map { "keys.\(issuer).\($0)" }
            throw error(ConfigurationSchema.unknown("keys.\(issuer).\(field)", among: known))
        }
        let word = fields["algorithm"]?.scalar ?? "HS256"
        guard let algorithm = KeyAlgorithm(rawValue: word) else {
            throw error("keys.\(issuer).algorithm: \"\(word)\" is not one of HS256, RS256, ES256")
        }
        let idle = algorithm == .hs256 ? "public_key_file" : "secret"
        guard fields[idle] == nil else {
            throw error("keys.\(issuer).\(idle): has no effect with \(algorithm.rawValue); remove it, or change `algorithm`")
        }
        if algorithm == .hs256 {
            guard let value = fields["secret"] else { throw error("keys.\(issuer).secret is missing") }
            return IssuerSettings(issuer: issuer, algorithm: .hs256, key: try secret(value, of: "keys.\(issuer).secret"))
        }
        guard let path = fields["public_key_file"]?.scalar else { throw error("keys.\(issuer).public_key_file is missing") }
        let resolved = resolved(path)
        guard let pem = try? String(contentsOfFile: resolved, encoding: .utf8) else {
            throw error("keys.\(issuer).public_key_file: cannot read \(resolved); check the path and its permissions")
        }
        return IssuerSettings(issuer: issuer, algorithm: algorithm, key: SecretText(pem))
    }

    /// A path, relative to the file's directory.
    func resolved(_ path: String) -> String {
        guard let file, !path.isEmpty else { return path }
        return FilePath(file).removingLastComponent().pushing(FilePath(path)).string
    }

    /// YAML reads unquoted digits as a number, which is then not the secret that was written.
    private func secret(_ value: YAMLValue, of key: String) throws -> SecretText {
        guard let text = value.text else { throw error("\(key) must be text; put the secret in quotes") }
        return SecretText(text)
    }

    private func error(_ text: String) -> ConfigurationError { ConfigurationError("\(source): \(text)") }
}
