import Testing
import Wire

@testable import PatchbayAgents

/// The schedule of a call, without waiting.
struct ScheduleTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func timer(_ seconds: Int) -> Reminder {
        Reminder(title: "Timer \(seconds)", text: "Over.", after: .seconds(seconds))
    }

    @Test func dueOnesAreTakenInTheirOrder() {
        var schedule = Schedule()
        for seconds in [30, 10, 20] { _ = schedule.add(Self.timer(seconds), at: Self.start) }
        #expect(schedule.pending(at: Self.start + .seconds(5)).map(\.remaining) == [.seconds(5), .seconds(15), .seconds(25)])
        #expect(!schedule.isDue(at: Self.start + .milliseconds(9_999)) && schedule.isDue(at: Self.start + .seconds(10)))
        let due = (1...2).map { _ in schedule.takeDue(at: Self.start + .seconds(20)).map(\.reminder.title) }
        #expect(due == [["Timer 10", "Timer 20"], []] && schedule.entries.count == 1)
    }

    @Test func cancelledOnesAreNeverDueAndIdsAreNotReused() throws {
        var schedule = Schedule()
        let added = schedule.add(Self.timer(10), at: Self.start)
        let first = try #require(added)
        #expect(schedule.cancel(id: first.id) == first)
        #expect(schedule.cancel(id: first.id) == nil && !schedule.isDue(at: Self.start + .seconds(100)))
        let second = schedule.add(Self.timer(10), at: Self.start)
        #expect(second?.id != first.id && second != nil)
    }

    @Test func limitsHold() {
        var schedule = Schedule()
        let refused = [
            Reminder(title: "Long", text: "", after: Schedule.spanMax + .seconds(1)),
            Reminder(title: "Past", text: "", after: .seconds(-1)),
            Reminder(title: String(repeating: "x", count: 257), text: "", after: .seconds(1)),
        ].map { schedule.add($0, at: Self.start) }
        #expect(refused == [nil, nil, nil])
        let added = (0...Schedule.countMax).map { _ in schedule.add(Self.timer(1), at: Self.start) }
        #expect(added.firstIndex(of: nil) == Schedule.countMax)
    }

    @Test func anAnnouncementThatCannotBeSpokenIsGivenUp() {
        var schedule = Schedule()
        _ = schedule.add(Self.timer(1), at: Self.start)
        for attempt in 1...Schedule.attemptsMax {
            let due = schedule.takeDue(at: Self.start + .seconds(2))
            let givenUp = schedule.restore(due)
            #expect(due.map(\.attempts) == [attempt] && givenUp.count == (attempt == Schedule.attemptsMax ? 1 : 0))
        }
        #expect(schedule.entries.isEmpty)
    }
}
