internal import Wire

/// The cards that an assistant has shown, and what its user chose on them. A pure value.
struct AssistantCards: Sendable, Hashable {
    /// Older cards are forgotten; choices on them are ignored.
    private static let countMax = 32

    private var cards: [AssistantCard] = []

    mutating func shown(_ card: AssistantCard) {
        cards.removeAll { $0.id == card.id }
        cards.append(card)
        if cards.count > Self.countMax { cards.removeFirst() }
    }

    /// The text that a choice passes to the responder; nil if its card or action is unknown.
    func text(of choice: CardAction) -> String? {
        guard let card = cards.first(where: { $0.id == choice.card }),
            let action = card.actions.first(where: { $0.id == choice.action })
        else { return nil }
        let edits = (choice.fields ?? [:]).sorted { $0.key < $1.key }.map { "\n\($0.key): \($0.value)" }.joined()
        return "\(action.title): \(card.title)\(edits)"
    }

    /// The card in a tool's result: its member `card`, with the members of a card except `id`.
    static func card(in result: String) -> AssistantCard? {
        guard case .object(var members)? = (try? JSONValue(parsing: Array(result.utf8), depthMax: 16))?["card"] else { return nil }
        if !members.contains(where: { $0.name == "id" }) { members.append(.init("id", .string("card-\(UInt32.random(in: 0 ... .max))"))) }
        let message: JSONValue = .object([.init("type", .string("card")), .init("data", .object(members))])
        guard let bytes = try? JSON.encode(message, names: .asDeclared), case .card(let card)? = try? AssistantMessage(parsing: bytes)
        else {
            return nil
        }
        return card
    }

    enum ReminderState { case set, due, cancelled }

    /// Returns a card for a reminder, which replaces the one of its earlier state.
    static func reminder(_ entry: Schedule.Entry, is state: ReminderState) -> AssistantCard {
        let body =
            switch state {
            case .set: "Due in \(SpokenDuration.text(of: entry.reminder.after))."
            case .due: entry.reminder.text
            case .cancelled: "Cancelled."
            }
        let actions = state == .set ? [AssistantCard.Action(id: "cancel", title: "Cancel")] : []
        return AssistantCard(id: entry.id, kind: .info, title: entry.reminder.title, body: body, actions: actions)
    }

    /// Returns a card for a failed tool, with the action `tryAgain` if retrying may help.
    static func failure(of call: ToolCall, _ message: String, retry: Bool, tryAgain: String) -> AssistantCard {
        let name = call.name.split { $0 == "_" || $0 == "-" }.joined(separator: " ")
        return AssistantCard(
            id: call.id, kind: .error, title: name, body: message,
            actions: retry ? [AssistantCard.Action(id: "retry", title: tryAgain)] : [])
    }
}
