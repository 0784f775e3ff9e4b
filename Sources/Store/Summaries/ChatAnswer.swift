internal import Wire

/// What a chat server answers, as far as it is looked at.
struct ChatAnswer: Decodable {
    struct Choice: Decodable {
        var message: Message
        var finishReason: String?
    }

    struct Message: Decodable {
        var content: String?
        var refusal: String?
    }

    var choices: [Choice]

    /// - Throws: `ChatSummaryError`.
    static func content(of body: [UInt8]) throws -> SummaryContent {
        guard let answer = try? JSON.decode(ChatAnswer.self, from: body, names: .snakeCase), let choice = answer.choices.first else {
            throw ChatSummaryError.unreadable
        }
        guard choice.message.refusal == nil, choice.finishReason ?? "stop" == "stop", let text = choice.message.content else {
            throw ChatSummaryError.unfinished
        }
        guard let content = try? JSON.decode(SummaryContent.self, from: Array(unfenced(text).utf8), names: .snakeCase),
            let limited = content.limited
        else { throw ChatSummaryError.unreadable }
        return limited
    }

    /// Some models put a fence of Markdown around their JSON, whatever the schema says.
    private static func unfenced(_ text: String) -> Substring {
        guard let start = text.firstIndex(of: "{"), let end = text.lastIndex(of: "}"), start < end else { return text[...] }
        return text[start...end]
    }
}

extension SummaryContent {
    /// Within `SummaryLimits` and without empty items; nil without a title or a text.
    fileprivate var limited: SummaryContent? {
        let title = title.onOneLine
        let text = summaryText.onOneLine
        guard !title.isEmpty, !text.isEmpty else { return nil }
        return SummaryContent(
            title: title.shortened(to: SummaryLimits.titleCharactersMax), summaryText: text.shortened(to: SummaryLimits.textCharactersMax),
            actionItems: actionItems.map(\.onOneLine).filter { !$0.isEmpty }.prefix(SummaryLimits.actionItemsMax)
                .map { $0.shortened(to: SummaryLimits.actionItemCharactersMax) },
            tags: tags.map { $0.onOneLine.lowercased() }.filter { !$0.isEmpty }.prefix(SummaryLimits.tagsMax)
                .map { $0.shortened(to: SummaryLimits.tagCharactersMax) })
    }
}

extension String {
    fileprivate var onOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
