internal import Foundation
internal import Wire

/// What the rules know besides the last message: the conversation before it, the time, and chance. A pure value.
struct Situation: Sendable {
    let conversation: Conversation
    /// What the assistant calls itself.
    let name: String
    let now: Date
    let timeZone: TimeZone
    /// A random number, drawn for this response.
    let chance: UInt64

    var calendar: Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        calendar.locale = Locale(identifier: "en_US")
        return calendar
    }

    /// What the assistant has said so far, as far as it was heard, without its question whether somebody is there.
    var answers: [String] {
        let question = AssistantPhrases().question
        return conversation.messages.compactMap { message in
            if case .assistant(let text, _) = message, !text.isEmpty, text != question { text } else { nil }
        }
    }

    var lastAnswer: String? { answers.last }

    /// What the user has said before the last message.
    var questions: [String] {
        conversation.messages.dropLast().compactMap { message in
            if case .user(let text) = message { text.split(whereSeparator: \.isNewline).joined(separator: " ") } else { nil }
        }
    }

    /// One of several texts.
    func pick(_ texts: [String]) -> String { texts[Int(chance % UInt64(texts.count))] }

    /// A call of a tool with what was said as its argument `text`.
    func call(_ tool: AssistantTool, about utterance: Utterance) -> ResponsePart {
        let arguments = (try? JSON.encode(["text": utterance.sentence(from: 0)], names: .asDeclared)).map {
            String(decoding: $0, as: UTF8.self)
        }
        return .toolCall(ToolCall(id: "call_\(conversation.messages.count)", name: tool.name, arguments: arguments ?? "{}"))
    }
}
