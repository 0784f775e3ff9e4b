/// How a widget looks and what it offers: from the definition of its assistant (`GET /v1/assistants/{id}`).
public struct WidgetSettings: Sendable, Hashable {
    public enum Theme: String, Sendable, CaseIterable {
        case light, dark
        /// As the system.
        case auto
    }

    /// Colours of the visualizer.
    public enum VisualizerColor: String, Sendable, CaseIterable {
        case verdant, twilight, bloom, mystic, flare, glacier, sky
    }

    public enum VisualizerPreset: String, Sendable, CaseIterable {
        case bars, wave
    }

    /// What is open before the first call.
    public enum StartState: String, Sendable, CaseIterable {
        case collapsed, expanded
    }

    public var id = ""
    public var name = ""
    public var voice = ""
    /// A BCP 47 tag or empty.
    public var language = ""
    /// Sentences that the user can choose instead of speaking; at most 32.
    public var quickCommands: [String] = []
    /// Whether the assistant introduces itself at a user's first call.
    public var hasOnboarding = false
    /// Texts of the button, while the assistant thinks and while it speaks; empty for the widget's own.
    public var startText = ""
    public var thinkingText = ""
    public var interruptText = ""
    /// Web addresses, or empty.
    public var logo = ""
    public var history = ""
    public var feedback = ""
    public var theme = Theme.auto
    /// Nil: that of the presentation.
    public var color: VisualizerColor?
    public var preset = VisualizerPreset.bars
    public var startState = StartState.collapsed

    public init() {}
}

/// The response of the gateway. Anything unexpected is left out, as in the web widget.
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

    /// The texts of a list that are not empty.
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

    /// Only web addresses: a link with another scheme could run code.
    fileprivate func link(_ key: Key) -> String {
        let text = text(key)
        return text.hasPrefix("https://") || text.hasPrefix("http://") ? text : ""
    }
}

/// Any JSON value.
private struct Ignored: Decodable {
    init(from decoder: any Decoder) {}
}
