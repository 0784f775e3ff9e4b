internal import Wire

/// The secrets that an agent process lets assistants use: API keys of providers, by the names that definitions give in `api_key_env`.
///
/// Definitions come from the gateway, where administrators store them, so they may name only secrets that the process lists. Otherwise
/// an administrator could have any variable of the process's environment sent to any server. The values do not appear in
/// descriptions, dumps and logs.
public struct ProviderSecrets: Sendable, ExpressibleByDictionaryLiteral {
    private var values: [String: String] = [:]

    /// No secrets.
    public init() {}

    public init(dictionaryLiteral secrets: (String, String)...) {
        for (name, value) in secrets { values[name] = value }
    }

    /// - Precondition: the name is not reserved (`ProviderSettings.isReserved(secret:)`).
    public mutating func add(_ name: String, _ value: String) {
        precondition(!ProviderSettings.isReserved(secret: name), "settings of Patchbay are no secrets of providers")
        values[name] = value
    }

    /// - Throws: `ProviderError` of code `unavailable` if the definition may not use it.
    func value(of name: String) throws(ProviderError) -> String {
        guard !ProviderSettings.isReserved(secret: name) else {
            throw ProviderError(.unavailable, "api_key_env may not name \(name): settings of Patchbay are not sent to providers")
        }
        guard let value = values[name] else {
            throw ProviderError(
                .unavailable,
                "api_key_env names \(name), which is no secret of this agent; start it with --secret \(name) or --secret \(name)=FILE")
        }
        return value
    }
}

extension ProviderSecrets: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "(secrets: \(values.keys.sorted().joined(separator: ", ")))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
