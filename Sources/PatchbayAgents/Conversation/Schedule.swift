internal import Wire

/// Something that the assistant says by itself later: the end of a timer, a reminder.
public struct Reminder: Sendable, Hashable {
    /// For its card and lists: "Timer for 10 minutes".
    public var title: String
    /// The text to be spoken.
    public var text: String
    /// From the request on; at most 24 hours.
    public var after: Duration

    public init(title: String, text: String, after: Duration) {
        self.title = title
        self.text = text
        self.after = after
    }
}

/// A reminder that is not due yet, as the responder learns of it.
public struct PendingReminder: Sendable, Hashable {
    /// For `ResponsePart.cancelSchedule`.
    public var id: String
    public var title: String
    public var remaining: Duration

    public init(id: String, title: String, remaining: Duration) {
        self.id = id
        self.title = title
        self.remaining = remaining
    }
}

/// The reminders of a call. A pure value: time is an argument.
struct Schedule: Sendable, Hashable {
    struct Entry: Sendable, Hashable {
        let id: String
        let reminder: Reminder
        let due: Instant
        /// How often its announcement was begun.
        var attempts = 0
    }

    enum Change: Sendable, Hashable {
        /// `at`: when it was asked for.
        case add(Reminder, at: Instant)
        case cancel(id: String)
    }

    /// Reminders at a time.
    static let countMax = 16
    /// The longest time that a reminder waits.
    static let spanMax = Duration.seconds(24 * 3_600)
    /// An announcement that could not be spoken so often is given up.
    static let attemptsMax = 3

    /// Soonest first.
    private(set) var entries: [Entry] = []
    private var lastNumber = 0

    /// - Returns: nil if there are too many, it is too far ahead, or its texts are too long for a card.
    mutating func add(_ reminder: Reminder, at now: Instant) -> Entry? {
        guard entries.count < Self.countMax, .zero...Self.spanMax ~= reminder.after, !reminder.title.isEmpty,
            reminder.title.utf8.count <= AssistantMessage.Limits.titleMax, reminder.text.utf8.count <= AssistantMessage.Limits.messageMax
        else { return nil }
        lastNumber += 1
        let entry = Entry(id: "reminder-\(lastNumber)", reminder: reminder, due: now + reminder.after)
        insert(entry)
        return entry
    }

    private mutating func insert(_ entry: Entry) {
        entries.insert(entry, at: entries.firstIndex { $0.due > entry.due } ?? entries.count)
    }

    /// - Returns: nil if there is none, for example because it was announced.
    mutating func cancel(id: String) -> Entry? {
        entries.firstIndex { $0.id == id }.map { entries.remove(at: $0) }
    }

    func pending(at now: Instant) -> [PendingReminder] {
        entries.map { PendingReminder(id: $0.id, title: $0.reminder.title, remaining: max($0.due - now, .zero)) }
    }

    func isDue(at now: Instant) -> Bool { entries.first.map { $0.due <= now } ?? false }

    /// Removes those that are due, to be announced together.
    mutating func takeDue(at now: Instant) -> [Entry] {
        let due = entries.prefix { $0.due <= now }
        entries.removeFirst(due.count)
        return due.map { entry in
            var entry = entry
            entry.attempts += 1
            return entry
        }
    }

    /// Nothing of an announcement was audible: it is repeated.
    ///
    /// - Returns: those that are given up.
    mutating func restore(_ announced: [Entry]) -> [Entry] {
        for entry in announced where entry.attempts < Self.attemptsMax { insert(entry) }
        return announced.filter { $0.attempts >= Self.attemptsMax }
    }
}
