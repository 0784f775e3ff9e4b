import Testing
import Wire

@testable import PatchbayAgents

/// What the rules make of timers and reminders.
struct TimerRulesTests {
    private static let two = [
        PendingReminder(id: "reminder-1", title: "Reminder to call Anna", remaining: .seconds(90)),
        PendingReminder(id: "reminder-2", title: "Timer for 10 minutes", remaining: .seconds(599.5)),
    ]

    @Test func aTimerIsScheduledBeforeItIsConfirmed() {
        let timer = Reminder(title: "Timer for 10 seconds", text: "Your timer for 10 seconds is over.", after: .seconds(10))
        #expect(RulesUser.parts(of: "Set a timer for ten seconds.") == [.schedule(timer), .text("Your timer for 10 seconds starts now.")])
    }

    @Test(arguments: [
        ("Remind me to call my mother in two minutes.", "This is your reminder to call your mother.", 120),
        ("Remind me in half an hour to call Anna.", "This is your reminder to call Anna.", 1_800),
        ("Set a reminder for 20 minutes.", "This is your reminder.", 1_200),
        ("Remind me about the oven in a minute and a half.", "This is your reminder about the oven.", 90),
        ("Remind me to leave at 3:30 pm.", "This is your reminder to leave.", 1_500),
        ("Remind me at nine in the morning to buy bread.", "This is your reminder to buy bread.", 64_500),
        ("Remind me in ten minutes that the pizza is ready.", "This is your reminder that the pizza is ready.", 600),
        ("Wake me in two minutes thirty.", "This is your alarm.", 150),
        ("Start a five-minute timer.", "Your timer for 5 minutes is over.", 300),
        ("Set an alarm for noon.", "This is your alarm.", 75_300),
    ]) func timesAreUnderstood(_ said: String, _ text: String, _ seconds: Int) {
        guard case .schedule(let reminder)? = RulesUser.parts(of: said).first else {
            Issue.record("nothing is scheduled: \(RulesUser.answer(to: said))")
            return
        }
        #expect(reminder.text == text && reminder.after == .seconds(seconds))
    }

    @Test(arguments: [
        ("How long is left on the timer?", "10 minutes."),
        (
            "How much time is left?",
            "Reminder to call Anna, with 1 minute and 30 seconds left, and timer for 10 minutes, with 10 minutes left."
        ),
        (
            "What reminders do I have?",
            "You have 2: reminder to call Anna, with 1 minute and 30 seconds left, and timer for 10 minutes, with 10 minutes left."
        ),
    ]) func pendingOnesAreListed(_ said: String, _ answer: String) {
        #expect(RulesUser.answer(to: said, reminders: Self.two) == answer)
    }

    @Test(arguments: [
        ("Cancel the timer.", ["reminder-2"], "Cancelled: Timer for 10 minutes."),
        ("cancel the reminder about anna", ["reminder-1"], "Cancelled: Reminder to call Anna."),
        ("Cancel: Timer for 10 minutes", ["reminder-2"], "Cancelled: Timer for 10 minutes."),
        ("Stop the ten minute timer.", ["reminder-2"], "Cancelled: Timer for 10 minutes."),
        ("Cancel everything.", ["reminder-1", "reminder-2"], "All 2 are cancelled."),
        ("Cancel the alarm.", [], "I don't have that one."),
        ("Cancel that.", [], "You have 2: Reminder to call Anna, and Timer for 10 minutes. Which one shall I cancel?"),
    ]) func theOneThatIsMeantIsCancelled(_ said: String, _ ids: [String], _ answer: String) {
        let parts = RulesUser.parts(of: said, reminders: Self.two)
        #expect(parts == ids.map { .cancelSchedule($0) } + [.text(answer)])
    }

    @Test func theAnswerToWhichOneIsUnderstood() {
        var user = RulesUser(conversation: Conversation(reminders: Self.two))
        user.says("Cancel that.")
        user.conversation.messages.append(.user("The ten minutes one."))
        #expect(user.parts().first == .cancelSchedule("reminder-2"))
    }

    @Test func withoutAnyThereIsNothingToSay() {
        #expect(RulesUser.answer(to: "Cancel the timer.") == "There is nothing to cancel.")
        #expect(RulesUser.answer(to: "How long is left?") == "There is no timer running.")
        #expect(RulesUser.answer(to: "Do I have any reminders?") == "You have no timers or reminders.")
    }

    @Test func tooManyAndTooLongAreRefused() {
        let many = (1...Schedule.countMax).map { PendingReminder(id: "reminder-\($0)", title: "Timer", remaining: .seconds(60)) }
        #expect(RulesUser.answer(to: "Set a timer for a minute.", reminders: many).hasPrefix("I can't keep more than 16"))
        #expect(RulesUser.answer(to: "Set a timer for 25 hours.").hasPrefix("I can only look 24 hours ahead"))
        #expect(RulesUser.answer(to: "Set a timer for zero seconds.") == "That is too short for me.")
    }
}
