internal import Wire

/// The messages that a turn adds to the conversation when it ends.
struct TurnRecord: Sendable, Hashable {
    var messages: [UserMessage]
    /// Tool calls and their results, in order.
    var tools: [ToolEntry] = []
    /// Said before the response. Not part of the conversation, in which a model would imitate it.
    var filler = ""

    /// Changes of the schedule, until the turn is audible.
    var changes: [Schedule.Change] = []
    /// Those that the turn announces.
    var reminders: [Schedule.Entry] = []
    var isAudible = false

    /// The part of the assistant's speech that is the response.
    func response(in heard: String) -> String {
        filler.hasPrefix(heard) ? "" : heard.hasPrefix(filler) ? String(heard.dropFirst(filler.count)).trimmingSpaces() : heard
    }

    struct ToolEntry: Sendable, Hashable {
        var text: String
        var calls: [ToolCall]
        var results: [String]
    }
}
