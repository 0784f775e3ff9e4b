internal import Logging
internal import Wire

/// Timers and reminders: set and cancelled by turns once these are audible, and announced by turns of their own.
extension Responding {
    /// A user who goes on speaking before the turn is audible gets another response, so nothing is changed until then.
    mutating func schedule(_ reminder: Reminder, in turn: TurnID) {
        change(.add(reminder, at: configuration.clock.now()), in: turn)
    }

    mutating func cancelSchedule(_ id: String, in turn: TurnID) {
        change(.cancel(id: id), in: turn)
    }

    private mutating func change(_ change: Schedule.Change, in turn: TurnID) {
        turns[turn]?.changes.append(change)
        if turns[turn]?.isAudible == true { carryOutChanges(of: turn) }
    }

    /// The turn is audible.
    mutating func started(_ turn: TurnID) {
        turns[turn]?.isAudible = true
        carryOutChanges(of: turn)
        for entry in turns[turn]?.reminders ?? [] { show(AssistantCards.reminder(entry, is: .due)) }
    }

    mutating func carryOutChanges(of turn: TurnID) {
        let changes = turns[turn]?.changes ?? []
        turns[turn]?.changes = []
        for change in changes {
            switch change {
            case .add(let reminder, let time):
                if let entry = schedule.add(reminder, at: time) {
                    show(AssistantCards.reminder(entry, is: .set))
                } else {
                    configuration.logger.warning("A reminder was refused", metadata: ["after": "\(reminder.after)"])
                }
            case .cancel(let id): if let entry = schedule.cancel(id: id) { show(AssistantCards.reminder(entry, is: .cancelled)) }
            }
        }
    }

    /// Begins a turn that says the reminders that are due.
    mutating func announceReminders(in turn: TurnID, with writer: ResponseWriter?) {
        let due = schedule.takeDue(at: configuration.clock.now())
        let sentences = due.flatMap { AssistantGreeting.sentences(of: $0.reminder.text) }
        let synthesizer = configuration.engines.synthesizer
        begin(turn, [], nil) { await writer?.say(sentences, with: synthesizer) }
        turns[turn]?.reminders = due
    }

    mutating func restoreReminders(of record: TurnRecord?) {
        for entry in schedule.restore(record?.reminders ?? []) {
            configuration.logger.warning("A reminder could not be spoken", metadata: ["id": "\(entry.id)"])
        }
    }
}
