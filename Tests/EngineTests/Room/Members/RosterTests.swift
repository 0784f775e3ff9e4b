import Testing

@testable import Engine

struct RosterTests {
    @Test func valuesKeepInsertionOrder() {
        var roster = Roster<String, Int>()
        for (value, key) in ["c", "a", "b"].enumerated() { roster.append(value, for: key) }
        #expect(roster.keys == ["c", "a", "b"] && roster.values == [0, 1, 2])
    }

    @Test func removalShiftsLaterIndices() {
        var roster = Roster<String, Int>()
        for (value, key) in ["a", "b", "c", "d"].enumerated() { roster.append(value, for: key) }
        #expect(roster.remove("b") == 1 && roster.remove("b") == nil)
        #expect(roster.keys == ["a", "c", "d"])
        for key in roster.keys { #expect(roster.index(of: key).map { roster.keys[$0] } == key) }
        roster.append(9, for: "b")
        #expect(roster["b"] == 9 && roster.index(of: "b") == 3)
    }

    @Test func lookupWorksBeyondTheScanLimit() {
        var roster = Roster<Int, String>()
        for key in 0..<30 { roster.append("\(key)", for: key) }
        roster.rename(20, to: 120)
        for key in 0..<15 { #expect(roster.remove(key) == "\(key)") }
        for key in 15..<30 where key != 20 { #expect(roster[key] == "\(key)" && roster.index(of: key) == key - 15) }
        #expect(roster[20] == nil && roster[120] == "20" && roster[3] == nil)
        // Below the scan limit and above it again.
        for key in 21..<30 { roster.remove(key) }
        #expect(roster.keys == [15, 16, 17, 18, 19, 120] && roster[120] == "20" && !roster.contains(25))
        for key in 200..<210 { roster.append("\(key)", for: key) }
        #expect(roster[120] == "20" && roster[209] == "209" && roster.index(of: 209) == 15)
    }

    @Test func valuesAreModifiedInPlace() {
        var roster = Roster<String, [Int]>()
        roster.append([], for: "a")
        roster[at: 0].append(5)
        #expect(roster["a"] == [5])
    }

    @Test func emptyRosterHasNoKeys() {
        var roster = Roster<String, Int>()
        roster.append(1, for: "a")
        roster.removeAll()
        #expect(roster.isEmpty && !roster.contains("a") && roster["a"] == nil)
    }

    @Test func duplicateKeyTraps() async {
        await #expect(processExitsWith: .failure) {
            var roster = Roster<String, Int>()
            roster.append(1, for: "a")
            roster.append(2, for: "a")
        }
    }
}
