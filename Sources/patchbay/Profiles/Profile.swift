import Foundation
import PatchbayClient

/// A gateway and the key to sign with, under a name that commands take with `--profile`. It names the key's secret and never contains it.
struct Profile: Hashable, Sendable {
    var url: String
    var apiKey: String
    var secret: SecretReference
    /// The path of a PEM file with the gateway's authority; nil for the system's authorities.
    var ca: String?

    /// Whether a URL is that of this gateway: the same host, port and path.
    ///
    /// - Throws: `ConnectError` for an invalid URL.
    func isAt(_ url: String) throws -> Bool {
        try Self.address(self.url) == Self.address(url)
    }

    private static func address(_ url: String) throws -> GatewayAddress {
        var address = try GatewayAddress(url)
        address.host = address.host.lowercased()
        return address
    }
}

/// Where a secret is kept.
enum SecretReference: Hashable, Sendable, CustomStringConvertible {
    /// An environment variable.
    case variable(String)
    /// The path of a file with nothing else in it.
    case file(String)

    var description: String {
        switch self {
        case .variable(let name): "variable \(name)"
        case .file(let path): "file \(path)"
        }
    }

    /// - Parameters:
    ///   - label: the option or profile that needs the secret; errors begin with it.
    ///   - alternative: what else to do if the variable is not set.
    /// - Throws: `UsageError`, which repeats no secret.
    func read(for label: String, or alternative: String, _ environment: [String: String]) throws -> String {
        switch self {
        case .variable(let name):
            guard let value = environment[name], !value.isEmpty else {
                throw UsageError("\(label): the environment variable is not set; set it, or \(alternative)")
            }
            return value
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path), let text = String(data: data, encoding: .utf8) else {
                throw UsageError("\(label): the file cannot be read; check the path and its permissions")
            }
            // Editors add a newline at the end.
            let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !secret.isEmpty else { throw UsageError("\(label): the file is empty") }
            return secret
        }
    }
}

extension Profile: Codable {
    private enum Field: String, CaseIterable {
        case url, ca
        case apiKey = "api_key"
        case secretVariable = "api_secret_env"
        case secretFile = "api_secret_file"
    }

    init(from decoder: any Decoder) throws {
        func flaw(_ text: String) -> DecodingError {
            .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: text))
        }
        let fields = try decoder.singleValueContainer().decode([String: String].self)
        if let unknown = fields.keys.sorted().first(where: { Field(rawValue: $0) == nil }) {
            let known = Field.allCases.map(\.rawValue).sorted().joined(separator: ", ")
            throw flaw("there is no field \"\(unknown)\"; use \(known)")
        }
        func required(_ field: Field) throws -> String {
            guard let value = fields[field.rawValue], !value.isEmpty else { throw flaw("`\(field.rawValue)` is missing") }
            return value
        }
        url = try required(.url)
        do throws(ConnectError) { _ = try GatewayAddress(url) } catch { throw flaw(error.description) }
        apiKey = try required(.apiKey)
        secret =
            switch (fields[Field.secretVariable.rawValue], fields[Field.secretFile.rawValue]) {
            case (let name?, nil): .variable(name)
            case (nil, let path?): .file(path)
            default: throw flaw("it needs either `api_secret_env` or `api_secret_file`")
            }
        ca = fields[Field.ca.rawValue]
    }

    func encode(to encoder: any Encoder) throws {
        var fields: [Field: String] = [.url: url, .apiKey: apiKey]
        switch secret {
        case .variable(let name): fields[.secretVariable] = name
        case .file(let path): fields[.secretFile] = path
        }
        fields[.ca] = ca
        var container = encoder.singleValueContainer()
        try container.encode(Dictionary(uniqueKeysWithValues: fields.map { ($0.rawValue, $1) }))
    }
}
