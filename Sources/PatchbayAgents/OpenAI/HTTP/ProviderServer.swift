internal import Foundation
package import Wire

/// An OpenAI-compatible server as one provider's settings describe it, checked.
package struct ProviderServer: Sendable {
    /// For messages: host and port.
    package let name: String
    /// The base URL without a slash at its end.
    package let baseURL: String
    package let key: APIKey?
    let model: String
    let voice: String?
    package let retry: RetryPolicy

    /// In milliseconds.
    private static let timeouts = 100...600_000
    private static let timeoutDefault = 10_000
    private static let retryCounts = 0...10
    private static let retriesDefault = 2

    /// - Parameters:
    ///   - schemes: the scheme without and the scheme with encryption. `http` and `ws` both mean the first, `https` and `wss` the second.
    ///   - secrets: those that the settings may use.
    /// - Throws: `ProviderError` of code `unavailable`, whose message names the setting to correct.
    package init(
        _ settings: ProviderSettings, schemes: (plain: String, encrypted: String) = ("http", "https"), secrets: ProviderSecrets
    ) throws(ProviderError) {
        func wrong(_ problem: String) -> ProviderError { ProviderError(.unavailable, problem) }

        guard var parts = URLComponents(string: settings.baseUrl), let host = parts.host, !host.isEmpty else {
            throw wrong("base_url \"\(settings.baseUrl)\" is not a URL; write it as \(schemes.encrypted)://host/v1")
        }
        switch parts.scheme?.lowercased() {
        case "http", "ws": parts.scheme = schemes.plain
        case "https", "wss": parts.scheme = schemes.encrypted
        default: throw wrong("base_url of \(host) must begin with \(schemes.encrypted)://, or \(schemes.plain):// for a local server")
        }
        guard parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil else {
            throw wrong("base_url of \(host) has more than host, port and path; api_key_env names the secret with the key")
        }
        guard parts.port.map({ (1...65_535).contains($0) }) ?? true else { throw wrong("base_url of \(host) has an impossible port") }
        while parts.path.hasSuffix("/") { parts.path.removeLast() }
        guard let url = parts.string else { throw wrong("base_url \"\(settings.baseUrl)\" is not a URL") }

        name = parts.port.map { "\(host):\($0)" } ?? host
        baseURL = url
        key = try settings.apiKeyEnv.map { name throws(ProviderError) in try APIKey(try secrets.value(of: name), named: name) }
        guard key == nil || parts.scheme == schemes.encrypted || Self.isLoopback(host) else {
            throw wrong("the API key would be sent to \(host) without encryption; use \(schemes.encrypted):// or remove api_key_env")
        }
        guard !settings.model.isEmpty else { throw wrong("the provider at \(host) needs a model") }
        model = settings.model
        voice = settings.voice
        let timeout = settings.timeoutMs ?? Self.timeoutDefault
        guard Self.timeouts.contains(timeout) else {
            throw wrong("timeout_ms of \(host) is \(timeout); use \(Self.timeouts.lowerBound) to \(Self.timeouts.upperBound)")
        }
        let retries = settings.retries ?? Self.retriesDefault
        guard Self.retryCounts.contains(retries) else {
            throw wrong("retries of \(host) is \(retries); use \(Self.retryCounts.lowerBound) to \(Self.retryCounts.upperBound)")
        }
        retry = RetryPolicy(timeout: .milliseconds(timeout), retries: retries)
    }

    /// Addresses only, besides `localhost`: a name like `127.example.org` may resolve to anything.
    private static func isLoopback(_ host: String) -> Bool {
        guard host != "localhost", host != "[::1]", host != "::1" else { return true }
        let octets = host.split(separator: ".", omittingEmptySubsequences: false)
        return octets.count == 4 && octets[0] == "127" && octets.allSatisfy { octet in UInt8(octet).map { String($0) == octet } ?? false }
    }
}

/// A secret that does not appear in descriptions, dumps and logs.
package struct APIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value of an `Authorization` header.
    let authorization: String

    /// - Throws: `ProviderError` of code `unavailable` if the key cannot be sent in a header.
    init(_ text: String, named name: String) throws(ProviderError) {
        guard !text.isEmpty else { throw ProviderError(.unavailable, "the API key in \(name) is empty") }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw ProviderError(.unavailable, "the API key in \(name) contains spaces or characters that cannot be sent")
        }
        authorization = "Bearer \(text)"
    }

    package var description: String { "(API key)" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
