import Engine
import Testing

struct RosterTests {
    @Test func whoCameFirstStaysFirst() {
        var roster = Roster<String, Int>()
        for (value, key) in ["c", "a", "b"].enumerated() { roster.append(value, for: key) }
        #expect(roster.keys == ["c", "a", "b"] && roster.values == [0, 1, 2])
    }

    @Test func thoseBehindMoveUp() {
        var roster = Roster<String, Int>()
        for (value, key) in ["a", "b", "c", "d"].enumerated() { roster.append(value, for: key) }
        #expect(roster.remove("b") == 1 && roster.remove("b") == nil)
        #expect(roster.keys == ["a", "c", "d"])
        for key in roster.keys { #expect(roster.place(of: key).map { roster.keys[$0] } == key) }
        roster.append(9, for: "b")
        #expect(roster["b"] == 9 && roster.place(of: "b") == 3)
    }

    @Test func aValueChangesWhereItIs() {
        var roster = Roster<String, [Int]>()
        roster.append([], for: "a")
        roster[at: 0].append(5)
        #expect(roster["a"] == [5])
    }

    @Test func emptiedItForgetsItsKeys() {
        var roster = Roster<String, Int>()
        roster.append(1, for: "a")
        roster.removeAll()
        #expect(roster.isEmpty && !roster.contains("a") && roster["a"] == nil)
    }

    @Test func oneKeyIsNotTakenTwice() async {
        await #expect(processExitsWith: .failure) {
            var roster = Roster<String, Int>()
            roster.append(1, for: "a")
            roster.append(2, for: "a")
        }
    }
}
