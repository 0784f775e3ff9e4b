/// Limits of an assistant's definition. Sizes are in bytes of UTF-8.
public enum AssistantLimits {
    /// Of an assistant's id and a tool's name, in characters.
    public static let identifierMax = 64
    public static let nameBytesMax = 256
    public static let instructionsBytesMax = 32 << 10
    public static let greetingsMax = 64
    public static let quickCommandsMax = 32
    public static let onboardingMax = 64
    /// Of one greeting or one sentence of the onboarding.
    public static let sentenceBytesMax = 1_024
    /// Of a quick command or a text of the widget.
    public static let labelBytesMax = 256
    public static let toolsMax = 100
    public static let toolDescriptionBytesMax = 4_096
    public static let toolParametersBytesMax = 16 << 10
    public static let urlBytesMax = 2_048
    public static let fillerAfterMilliseconds = 0...15_000
    public static let fillerAfterMillisecondsDefault = 1_500
    public static let toolTimeoutMilliseconds = 100...60_000
    public static let toolTimeoutMillisecondsDefault = 10_000
    public static let providerTimeoutMilliseconds = 100...120_000
    public static let providerRetries = 0...10
}

extension AssistantDefinition {
    /// The first problem of the definition, starting with the field: "tools[2].url must begin with https:// or http://". Nil if it is valid.
    package var fault: String? {
        if let fault = Self.fault(inIdentifier: id) { return "id \(fault)" }
        return textFault ?? providers.fault.map { "providers.\($0)" } ?? toolsFault ?? widget.fault.map { "widget.\($0)" }
    }

    /// Why a text is no assistant's id and no tool's name; nil if it is one.
    package static func fault(inIdentifier text: String) -> String? {
        let isValid =
            1...AssistantLimits.identifierMax ~= text.utf8.count
            && text.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || $0 == "-" || $0 == "_") }
        return isValid ? nil : "must have 1 to \(AssistantLimits.identifierMax) letters, digits, `-` and `_`"
    }

    private var textFault: String? {
        if name.isEmpty { return "name is empty" }
        if !Self.voices.contains(voice) { return "voice must be one of \(Self.voices.joined(separator: ", "))" }
        if !LanguageTag.isValid(language) { return "language must be a BCP 47 tag, such as en or de-AT" }
        if !(AssistantLimits.fillerAfterMilliseconds ~= fillerAfterMs) {
            return Fault.range("filler_after_ms", AssistantLimits.fillerAfterMilliseconds)
        }
        return Fault.size(of: name, AssistantLimits.nameBytesMax, "name")
            ?? Fault.size(of: instructions, AssistantLimits.instructionsBytesMax, "instructions")
            ?? Fault.list(greetings, AssistantLimits.greetingsMax, AssistantLimits.sentenceBytesMax, "greetings")
            ?? Fault.list(quickCommands, AssistantLimits.quickCommandsMax, AssistantLimits.labelBytesMax, "quick_commands")
            ?? Fault.list(onboarding, AssistantLimits.onboardingMax, AssistantLimits.sentenceBytesMax, "onboarding")
    }

    private var toolsFault: String? {
        if tools.count > AssistantLimits.toolsMax { return "tools has more than \(AssistantLimits.toolsMax) entries" }
        for (index, tool) in tools.enumerated() {
            if let fault = tool.fault { return "tools[\(index)].\(fault)" }
            if tools[..<index].contains(where: { $0.name == tool.name }) { return "tools[\(index)].name is used twice" }
        }
        return nil
    }
}

extension AssistantTool {
    fileprivate var fault: String? {
        if let fault = AssistantDefinition.fault(inIdentifier: name) { return "name \(fault)" }
        if let fault = Fault.url(url, ["https", "http"], "url") { return fault }
        if let timeoutMs, !(AssistantLimits.toolTimeoutMilliseconds ~= timeoutMs) {
            return Fault.range("timeout_ms", AssistantLimits.toolTimeoutMilliseconds)
        }
        return Fault.size(of: description, AssistantLimits.toolDescriptionBytesMax, "description")
            ?? Fault.size(of: parameters, AssistantLimits.toolParametersBytesMax, "parameters") ?? parametersFault
    }

    private var parametersFault: String? {
        guard let schema = try? JSONValue(parsing: Array(parameters.utf8), depthMax: 64), case .object = schema else {
            return "parameters is not the JSON text of an object"
        }
        if let type = schema["type"], type != "object" { return "parameters must be a JSON Schema of the type \"object\"" }
        guard let properties = schema["properties"] else { return nil }
        if case .object = properties { return nil }
        return "parameters.properties is not an object"
    }
}

extension AssistantProviders {
    fileprivate var fault: String? {
        recognizer?.fault.map { "recognizer.\($0)" } ?? responder?.fault.map { "responder.\($0)" }
            ?? synthesizer?.fault.map { "synthesizer.\($0)" } ?? realtime?.fault.map { "realtime.\($0)" }
    }
}

extension ProviderSettings {
    /// Whether a name is one of Patchbay's own settings, such as `PATCHBAY_API_SECRET`, which no definition may name.
    public static func isReserved(secret name: String) -> Bool { name.uppercased().hasPrefix("PATCHBAY_") }

    fileprivate var fault: String? {
        if model.isEmpty { return "model is empty" }
        if let timeoutMs, !(AssistantLimits.providerTimeoutMilliseconds ~= timeoutMs) {
            return Fault.range("timeout_ms", AssistantLimits.providerTimeoutMilliseconds)
        }
        if let retries, !(AssistantLimits.providerRetries ~= retries) { return Fault.range("retries", AssistantLimits.providerRetries) }
        if let apiKeyEnv, apiKeyEnv.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]{0,127}/) == nil {
            return "api_key_env must be the name of an environment variable"
        }
        if let apiKeyEnv, Self.isReserved(secret: apiKeyEnv) {
            return "api_key_env must not be a setting of Patchbay; give the provider's key a name of its own"
        }
        return Fault.url(baseUrl, ["https", "http", "wss", "ws"], "base_url")
            ?? Fault.size(of: model, AssistantLimits.nameBytesMax, "model")
            ?? voice.flatMap { Fault.size(of: $0, AssistantLimits.nameBytesMax, "voice") }
    }
}

extension WidgetSettings {
    fileprivate var fault: String? {
        let choices = [
            ("theme", theme, ["light", "dark", "auto"]),
            ("visualizer_color", visualizerColor, ["verdant", "twilight", "bloom", "mystic", "flare", "glacier"]),
            ("start_state", startState, ["collapsed", "expanded"]),
        ]
        for (name, word, words) in choices {
            if let word, !words.contains(word) { return "\(name) must be one of \(words.joined(separator: ", "))" }
        }
        for (name, text) in [
            ("start_text", startText), ("visualizer_preset", visualizerPreset), ("thinking_text", thinkingText),
            ("interrupt_text", interruptText),
        ] {
            if let fault = text.flatMap({ Fault.size(of: $0, AssistantLimits.labelBytesMax, name) }) { return fault }
        }
        for (name, url) in [("logo_url", logoUrl), ("history_url", historyUrl), ("feedback_url", feedbackUrl)] {
            if let fault = url.flatMap({ Fault.url($0, ["https", "http"], name) }) { return fault }
        }
        return nil
    }
}

/// Sentences about fields that violate a limit; nil if the value is valid.
private enum Fault {
    static func size(of text: String, _ bytesMax: Int, _ name: String) -> String? {
        text.utf8.count > bytesMax ? "\(name) has more than \(bytesMax) bytes" : nil
    }

    static func list(_ texts: [String], _ countMax: Int, _ bytesMax: Int, _ name: String) -> String? {
        if texts.count > countMax { return "\(name) has more than \(countMax) entries" }
        for (index, text) in texts.enumerated() {
            if text.isEmpty { return "\(name)[\(index)] is empty" }
            if let fault = size(of: text, bytesMax, "\(name)[\(index)]") { return fault }
        }
        return nil
    }

    static func range(_ name: String, _ range: ClosedRange<Int>) -> String {
        "\(name) must be \(range.lowerBound) to \(range.upperBound)"
    }

    /// Without user, password and fragment, so that a secret cannot hide in it.
    static func url(_ text: String, _ schemes: [String], _ name: String) -> String? {
        guard text.utf8.count <= AssistantLimits.urlBytesMax, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
            return "\(name) must have at most \(AssistantLimits.urlBytesMax) characters, without spaces"
        }
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0 + "://") }) else {
            return "\(name) must begin with \(schemes.map { $0 + "://" }.joined(separator: " or "))"
        }
        let authority = text.dropFirst(scheme.utf8.count + 3).prefix { !"/?#".contains($0) }
        guard !authority.isEmpty, !authority.hasPrefix(":") else { return "\(name) has no host" }
        guard !authority.contains("@"), !text.contains("#") else { return "\(name) must not have a user, a password or a fragment" }
        return nil
    }
}
