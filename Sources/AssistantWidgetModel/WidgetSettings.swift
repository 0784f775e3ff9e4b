/// The appearance and features of a widget, from the definition of its assistant (`GET /v1/assistants/{id}`).
public struct WidgetSettings: Sendable, Hashable {
    public enum Theme: String, Sendable, CaseIterable {
        case light, dark
        /// The system's scheme.
        case auto
    }

    /// The color of the visualizer.
    public enum VisualizerColor: String, Sendable, CaseIterable {
        case verdant, twilight, bloom, mystic, flare, glacier, sky
    }

    public enum VisualizerPreset: String, Sendable, CaseIterable {
        case bars, wave
    }

    /// The view that is open before the first call.
    public enum StartState: String, Sendable, CaseIterable {
        case collapsed, expanded
    }

    public var id = ""
    public var name = ""
    public var voice = ""
    /// The assistant's language as a BCP 47 tag; may be empty.
    public var language = ""
    /// Sentences that the user can choose instead of speaking, at most 32.
    public var quickCommands: [String] = []
    /// Whether the assistant introduces itself in a user's first call.
    public var hasOnboarding = false
    /// Texts of the button: to start, while the assistant thinks, and while it speaks. If empty, the widget's own text is used.
    public var startText = ""
    public var thinkingText = ""
    public var interruptText = ""
    /// Web addresses; may be empty.
    public var logo = ""
    public var history = ""
    public var feedback = ""
    public var theme = Theme.auto
    /// The color of the visualizer; nil for the default of the presentation.
    public var color: VisualizerColor?
    public var preset = VisualizerPreset.bars
    public var startState = StartState.collapsed

    public init() {}
}

/// Decodes the gateway's response. Unexpected values are ignored, as in the web widget.
extension WidgetSettings: Decodable {
    private enum CodingKeys: String, CodingKey {
        case id, name, voice, language, widget, onboarding
        case quickCommands = "quick_commands"
    }

    private enum WidgetKeys: String, CodingKey {
        case theme
        case startText = "start_text"
        case thinkingText = "thinking_text"
        case interruptText = "interrupt_text"
        case logo = "logo_url"
        case history = "history_url"
        case feedback = "feedback_url"
        case color = "visualizer_color"
        case preset = "visualizer_preset"
        case startState = "start_state"
    }

    private static let quickCommandsMax = 32

    public init(from decoder: any Decoder) throws {
        guard let fields = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        id = fields.text(.id)
        name = fields.text(.name)
        voice = fields.text(.voice)
        language = fields.text(.language)
        quickCommands = Array(fields.texts(.quickCommands).prefix(Self.quickCommandsMax))
        hasOnboarding = !fields.texts(.onboarding).isEmpty
        guard let widget = try? fields.nestedContainer(keyedBy: WidgetKeys.self, forKey: .widget) else { return }
        startText = widget.text(.startText)
        thinkingText = widget.text(.thinkingText)
        interruptText = widget.text(.interruptText)
        logo = widget.link(.logo)
        history = widget.link(.history)
        feedback = widget.link(.feedback)
        theme = Theme(rawValue: widget.text(.theme)) ?? .auto
        color = VisualizerColor(rawValue: widget.text(.color))
        preset = VisualizerPreset(rawValue: widget.text(.preset)) ?? .bars
        startState = StartState(rawValue: widget.text(.startState)) ?? .collapsed
    }
}

extension KeyedDecodingContainer {
    fileprivate func text(_ key: Key) -> String {
        (try? decode(String.self, forKey: key)) ?? ""
    }

    /// Returns the non-empty texts of a list.
    fileprivate func texts(_ key: Key) -> [String] {
        guard var list = try? nestedUnkeyedContainer(forKey: key) else { return [] }
        var texts: [String] = []
        while !list.isAtEnd {
            if let text = try? list.decode(String.self) {
                if !text.isEmpty { texts.append(text) }
            } else {
                guard (try? list.decode(Ignored.self)) != nil else { break }
            }
        }
        return texts
    }

    /// Returns a web address, or an empty text: a link with another scheme could run code.
    fileprivate func link(_ key: Key) -> String {
        let parts = text(key).split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].hasPrefix("//") else { return "" }
        let scheme = parts[0].lowercased()
        let address = parts[1].dropFirst(2)
        let host = address.prefix { !"/?#".contains($0) }
        guard scheme == "https" || scheme == "http", !host.isEmpty else { return "" }
        return "\(scheme)://\(host.lowercased())\(address.dropFirst(host.count))"
    }
}

/// A JSON value that is skipped.
private struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
}
