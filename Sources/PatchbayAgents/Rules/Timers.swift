internal import Foundation

/// Timers, alarms and reminders: sets, lists and cancels them, and tells how long is left. The pipeline keeps them (`Schedule`).
enum Timers {
    static let questions = ["For how long?", "When shall I remind you?", "For what time?"]
    private static let whichOne = "Which one shall I cancel?"
    /// Of what to remind of, in UTF-8 bytes.
    private static let subjectMax = 160

    static func respond(to utterance: Utterance, in situation: Situation) -> [ResponsePart]? {
        cancel(utterance, situation) ?? left(utterance, situation) ?? list(utterance, situation) ?? remind(utterance, situation)
            ?? alarm(utterance, situation) ?? timer(utterance, situation)
    }

    // MARK: Setting

    private static func timer(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let words = utterance.words
        guard utterance.has("timer", "timers", "countdown", "stopwatch"), words.count <= 20 else { return nil }
        if utterance.has("pause", "resume") { return [.text("I can't pause timers. I can cancel one, and set another.")] }
        let bare = words.count <= 8 ? NumberWords.all(in: words).first { 0..<1e9 ~= $0 }.map { Duration.seconds($0 * 60) } : nil
        guard let duration = SpokenDuration.find(in: words)?.duration ?? bare else {
            if let time = TimeOfDay.find(in: words) { return set(at: time, utterance, situation, title: "Timer", "Your timer is over.") }
            return utterance.has("set", "start", "make", "create", "need", "want", "a timer", "new timer") || words == ["timer"]
                ? [.text("For how long?")] : nil
        }
        let span = SpokenDuration.text(of: duration)
        return set(
            Reminder(title: "Timer for \(span)", text: "Your timer for \(span) is over.", after: duration), situation,
            "Your timer for \(span) starts now.")
    }

    private static func alarm(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        guard utterance.has("alarm") || utterance.starts("wake me") else { return nil }
        if let duration = SpokenDuration.find(in: utterance.words)?.duration {
            let span = SpokenDuration.text(of: duration)
            return set(
                Reminder(title: "Alarm", text: "This is your alarm.", after: duration), situation, "Your alarm will go off in \(span).")
        }
        guard let time = TimeOfDay.find(in: utterance.words) else { return [.text("For what time?")] }
        return set(at: time, utterance, situation, title: "Alarm", "This is your alarm.")
    }

    private static func remind(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        guard let start = utterance.end(of: "remind me") ?? utterance.end(of: "reminder") ?? utterance.end(of: "remember me") else {
            return nil
        }
        let words = utterance.words
        if utterance.has("why did", "did you remind") { return nil }
        if utterance.has("every", "daily") { return [.text("I can remind you once, but not again and again.")] }
        let span = SpokenDuration.find(in: words)
        let time = span == nil ? TimeOfDay.find(in: words) : nil
        let subject = subject(of: utterance, from: start, without: (span?.range ?? time?.range).map { Array($0) } ?? [])
        let title = subject.isEmpty ? "Reminder" : "Reminder \(subject)"
        let text = subject.isEmpty ? "This is your reminder." : "This is your reminder \(subject)."
        if let span {
            let answer = "I'll remind you\(subject.isEmpty ? "" : " \(subject)") in \(SpokenDuration.text(of: span.duration))."
            return set(Reminder(title: title, text: text, after: span.duration), situation, answer)
        }
        guard let time else { return [.text("When shall I remind you?")] }
        return set(at: time, utterance, situation, title: title, text)
    }

    /// "to call Anna", "about the oven"; from the assistant's point of view.
    private static func subject(of utterance: Utterance, from start: Int, without times: [Int]) -> String {
        let skipped: Set = ["tomorrow", "today", "tonight"]
        let indices = (start..<utterance.words.count).filter { !times.contains($0) && !skipped.contains(utterance.words[$0]) }
        guard let first = indices.first(where: { !["for", "me", "and"].contains(utterance.words[$0]) }) else { return "" }
        var text = indices.filter { $0 >= first }.map { Perspective.turned(utterance.text($0..<$0 + 1)) }.filter { !$0.isEmpty }
            .joined(separator: " ")
        while text.utf8.count > subjectMax { text.removeLast() }
        guard !text.isEmpty else { return "" }
        return ["to ", "about ", "of ", "that "].contains { text.lowercased().hasPrefix($0) } ? text : "about \(text)"
    }

    private static func set(
        at time: TimeOfDay, _ utterance: Utterance, _ situation: Situation, title: String, _ text: String
    ) -> [ResponsePart] {
        let isTomorrow = utterance.has("tomorrow")
        guard let date = time.next(after: situation.now, isTomorrow: isTomorrow, in: situation.calendar) else {
            return [.text("I did not understand the time.")]
        }
        let spoken = TimeOfDay.text(of: date, in: situation.calendar)
        let isLater = DayText.days(from: situation.now, to: date, in: situation.calendar) > 0
        let reminder = Reminder(
            title: title.hasPrefix("Reminder") ? title : "\(title) for \(spoken)", text: text,
            after: .seconds(Int(date.timeIntervalSince(situation.now).rounded())))
        let promise =
            title.hasPrefix("Reminder") ? "I'll remind you\(title.dropFirst("Reminder".count))" : "Your \(title.lowercased()) is set"
        return set(reminder, situation, "\(promise) at \(spoken)\(isLater ? ", tomorrow" : "").")
    }

    /// Sets it, or says why not.
    private static func set(_ reminder: Reminder, _ situation: Situation, _ answer: String) -> [ResponsePart] {
        guard reminder.after >= .seconds(1) else { return [.text("That is too short for me.")] }
        guard reminder.after <= Schedule.spanMax else { return [.text("I can only look 24 hours ahead, and only during this call.")] }
        guard situation.conversation.reminders.count < Schedule.countMax else {
            return [.text("I can't keep more than \(Schedule.countMax) timers and reminders. Please cancel one first.")]
        }
        return [.schedule(reminder), .text(answer)]
    }

    // MARK: Asking

    private static func left(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let asksForTime = utterance.has(
            "how long is left", "how much time", "how much longer", "time left", "time is left", "is left", "remaining", "how long left",
            "when will the timer", "when does the timer", "how long until the timer", "how long does the timer", "how long is it")
        let isAboutTimers = utterance.has("timer", "alarm", "reminder", "left", "remaining", "longer")
        guard asksForTime, isAboutTimers, utterance.words.count <= 12 else { return nil }
        let reminders = named(in: utterance, situation)
        guard let first = reminders.first else { return [.text("There is no timer running.")] }
        guard reminders.count > 1 else { return [.text("\(SpokenDuration.text(of: first.rounded)).")] }
        return [.text(reminders.map(description).joined(separator: ", and ").capitalizedFirst + ".")]
    }

    private static func list(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let isQuestion =
            utterance.has("what", "which", "list", "show", "any", "tell me", "how many", "my") && !utterance.has("set", "remind me")
        guard isQuestion, utterance.has("reminders", "timers", "alarms"), utterance.words.count <= 12 else { return nil }
        let reminders = situation.conversation.reminders
        guard !reminders.isEmpty else { return [.text("You have no timers or reminders.")] }
        let list = reminders.map(description)
        let joined = list.count == 1 ? list[0] : list.dropLast().joined(separator: ", ") + ", and " + list[list.count - 1]
        return [.text("You have \(list.count): \(joined).")]
    }

    /// "timer for 10 minutes, with 4 minutes left".
    private static func description(_ reminder: PendingReminder) -> String {
        "\(reminder.title.prefix(1).lowercased())\(reminder.title.dropFirst()), with \(SpokenDuration.text(of: reminder.rounded)) left"
    }

    // MARK: Cancelling

    private static func cancel(_ utterance: Utterance, _ situation: Situation) -> [ResponsePart]? {
        let pending = situation.conversation.reminders
        let wasAsked = situation.lastAnswer?.hasSuffix(whichOne) == true
        let names = utterance.has("timer", "timers", "alarm", "alarms", "reminder", "reminders")
        let verbs = utterance.has("cancel", "stop", "delete", "remove", "clear", "turn off", "switch off", "forget", "end")
        if wasAsked, utterance.isOne(of: "none", "no", "neither", "never mind", "nothing") { return [.text("Okay, they stay.")] }
        guard (verbs && names) || (wasAsked && utterance.words.count <= 12) || (utterance.starts("cancel") && !pending.isEmpty) else {
            return nil
        }
        guard !pending.isEmpty else { return [.text("There is nothing to cancel.")] }
        let isAll = utterance.has("all", "both", "every", "everything", "timers", "reminders", "alarms")
        let chosen = isAll ? (names ? kind(of: utterance, pending) : pending) : named(in: utterance, situation)
        guard !chosen.isEmpty else { return [.text("I don't have that one.")] }
        if chosen.count > 1, !isAll {
            return [.text("You have \(chosen.count): \(chosen.map(\.title).joined(separator: ", and ")). \(whichOne)")]
        }
        let cancelled = chosen.map { ResponsePart.cancelSchedule($0.id) }
        return cancelled + [.text(chosen.count == 1 ? "Cancelled: \(chosen[0].title)." : "All \(chosen.count) are cancelled.")]
    }

    private static func kind(of utterance: Utterance, _ pending: [PendingReminder]) -> [PendingReminder] {
        let kinds = ["timer": "Timer", "reminder": "Reminder", "alarm": "Alarm"].filter { utterance.has($0.key, $0.key + "s") }.map(\.value)
        return pending.filter { reminder in kinds.isEmpty || kinds.contains(where: reminder.title.hasPrefix) }
    }

    /// Those of the kind that the utterance names; of these, the ones whose titles share most words with it.
    private static func named(in utterance: Utterance, _ situation: Situation) -> [PendingReminder] {
        let pending = situation.conversation.reminders
        let candidates = kind(of: utterance, pending)
        let common: Set = [
            "timer", "reminder", "alarm", "for", "to", "about", "the", "my", "a", "of", "one", "in", "on", "and", "is", "me", "at",
        ]
        let words = Set(Utterance(utterance.words.joined(separator: " ")).words).subtracting(common)
        let digits = Set(NumberWords.all(in: utterance.words).compactMap { NumberWords.text($0)?.text })
        let scores = candidates.map { reminder in
            Set(Utterance(reminder.title).words).subtracting(common).intersection(words.union(digits)).count
        }
        guard let best = scores.max(), best > 0 else { return candidates }
        return zip(candidates, scores).filter { $1 == best }.map(\.0)
    }
}

extension PendingReminder {
    /// In whole seconds; what has just begun is not shortened by a moment.
    fileprivate var rounded: Duration { .seconds(Int((remaining / .seconds(1)).rounded(.up))) }
}
