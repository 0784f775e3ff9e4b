/// A setting of `serve` as it is declared, once. The schema of the file, the variables, `serve --help`, the log of the configuration,
/// `patchbay.example.yaml` and `docs/settings.md` follow from it.
package struct Setting: Sendable {
    /// The type of a value.
    package enum Kind: Sendable {
        /// Any scalar: `node: 7` is the text "7".
        case text
        /// May contain secrets, so the log has only its host.
        case url
        /// Relative to the configuration file.
        case path
        case number(ClosedRange<Int>)
        case flag
        case choice([String])
        case texts
        case urls
        /// Checked by whoever reads it; with the name of its type.
        case own(String)
    }

    /// Those of maps as `room.auto_create`.
    package let key: String
    package let kind: Kind
    /// The default in YAML; nil if there is none, or if it depends on something else.
    package let standard: String?
    /// The behaviour without the setting, for documents; nil if `standard` says it, or if it is obvious.
    let otherwise: String?
    /// In YAML, where there is no default.
    let example: String?
    /// The option of `serve`, without dashes.
    package let option: String?
    /// The setting without which this one has no effect.
    package let needs: String?
    /// The feature that settings which depend on this one lack without it.
    package let provides: String?
    /// Whether SIGHUP applies changes.
    package let isReloaded: Bool
    package let isSecret: Bool
    /// Lists and maps that no variable can hold.
    let isFileOnly: Bool
    /// A sentence, or two.
    package let summary: String

    init(
        _ key: String, _ kind: Kind, _ standard: String? = nil, otherwise: String? = nil, example: String? = nil, option: String? = nil,
        needs: String? = nil, provides: String? = nil, isReloaded: Bool = false, isSecret: Bool = false, isFileOnly: Bool = false,
        _ summary: String
    ) {
        (self.key, self.kind, self.standard, self.otherwise, self.example) = (key, kind, standard, otherwise, example)
        (self.option, self.needs, self.provides, self.summary) = (option, needs, provides, summary)
        (self.isReloaded, self.isSecret, self.isFileOnly) = (isReloaded, isSecret, isFileOnly)
    }

    /// - Precondition: there is such a setting.
    package static func named(_ key: String) -> Setting {
        guard let setting = byKey[key] else { preconditionFailure("there is no setting \(key)") }
        return setting
    }

    static let byKey = Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) })

    /// In the order of the documents.
    package static let all = sections.flatMap(\.settings)

    /// `PATCHBAY_ROOM_EMPTY_TIMEOUT` for `room.empty_timeout`; nil for lists and maps that only a file can hold.
    package var variable: String? { isFileOnly ? nil : Self.variable(of: key) }

    package static func variable(of key: String) -> String { "PATCHBAY_" + key.replacing(".", with: "_").uppercased() }

    /// The first key of its file: `room` for `room.auto_create`.
    package var root: String { String(key.prefix { $0 != "." }) }

    /// The behaviour without the setting, for documents.
    package var defaultText: String? { otherwise ?? standard }

    /// The help of its option.
    package var help: String {
        let notes = [defaultText.map { "default: \($0)" }, variable.map { "environment: \($0)" }].compactMap(\.self)
        return summary + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))")
    }
}

extension Setting.Kind {
    /// For people.
    package var name: String {
        switch self {
        case .text: "text"
        case .url: "URL"
        case .path: "path"
        case .number(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .flag: "true, false"
        case .choice(let words): words.joined(separator: ", ")
        case .texts: "list of texts"
        case .urls: "list of URLs"
        case .own(let name): name
        }
    }
}
