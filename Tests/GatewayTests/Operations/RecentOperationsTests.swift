import Foundation
import Testing
import Wire

@testable import Backend

/// The recent operations that the gateway keeps for operators: bounded, latest first, with repetitions as one entry.
struct RecentOperationsTests {
    private func json(_ value: some Encodable) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(JSON.encode(value, names: .snakeCase))) as? [String: Any])
    }

    @Test func repetitionsAreCountedAndPushOutNothing() {
        var list = RecentList<String, Int>(limit: 3)
        for (time, key) in ["a", "b", "a", "a", "c", "d"].enumerated() { list.append(time, as: key, at: Int64(time)) }
        #expect(list.entries.map(\.value) == [3, 4, 5])
        #expect(list.entries.map(\.count) == [3, 1, 1])
        #expect(list.entries.map(\.at) == [3, 4, 5])
    }

    @Test func errorsOfOneMessageAreOneEntryWithTheLatestDetails() throws {
        let recent = RecentOperations()
        for number in 0..<1_000 {
            recent.note("error", "the disk is full", of: "patchbay.store", details: "free=\(number)", at: Int64(number))
        }
        recent.note(
            "warning", "a job waits for a worker", of: "patchbay.dispatch", details: String(repeating: "é", count: 5_000), at: 1_000)
        let errors = recent.view.errors
        #expect(errors.map(\.value.message) == ["a job waits for a worker", "the disk is full"])
        #expect(errors.map(\.count) == [1, 1_000])
        #expect(errors[0].value.details.unicodeScalars.count == RecentOperations.detailsMax + 1)
        let written = try json(errors[1])
        #expect(Set(written.keys) == ["at", "count", "level", "logger", "message", "details"])
        #expect(written["details"] as? String == "free=999" && written["at"] as? Int == 999)
    }

    @Test func eachListIsBounded() {
        let recent = RecentOperations()
        for number in 0..<200 { recent.note("error", "message \(number)", of: "l", details: "", at: Int64(number)) }
        #expect(recent.view.errors.map(\.at) == (150..<200).reversed().map { Int64($0) })
    }

    @Test func latenciesOfAnAssistantAreThoseOfItsLatestTurns() throws {
        var latencies = AssistantLatencies()
        latencies.add([], of: "nobody", at: 1)
        latencies.add((0..<AssistantLatencies.turnsMax).map { TurnMetrics(turn: $0, voiceToVoiceMs: 9_000) }, of: "shop", at: 2)
        latencies.add((1...100).map { TurnMetrics(turn: $0, firstTokenMs: 7, voiceToVoiceMs: $0, interrupted: $0 > 90) }, of: "shop", at: 3)
        latencies.add((1...100).map { TurnMetrics(turn: $0, voiceToVoiceMs: $0) }, of: "shop", at: 4)
        latencies.add([TurnMetrics(turn: 1)], of: "bank", at: 5)
        #expect(latencies.views.map(\.assistant) == ["bank", "shop"])
        let shop = try #require(latencies.views.last)
        #expect([shop.turns, shop.interrupted] == [200, 10] && shop.at == 4)
        #expect(shop.stages.map(\.stage) == ["first_token", "voice_to_voice"])
        #expect(shop.stages.map(\.medianMs) == [7, 50] && shop.stages.map(\.p95Ms) == [7, 95])
        #expect(latencies.views[0].stages.isEmpty)
    }

    @Test func theAssistantsThatReportedLastAreKept() {
        var latencies = AssistantLatencies()
        for number in 0..<60 { latencies.add([TurnMetrics(turn: 1)], of: String(format: "a%02d", number), at: Int64(number)) }
        latencies.add([TurnMetrics(turn: 2)], of: "a10", at: 60)
        latencies.add([TurnMetrics(turn: 1)], of: "b", at: 61)
        let kept = latencies.views.map(\.assistant)
        #expect(kept.count == AssistantLatencies.assistantsMax)
        #expect(kept.contains("a10") && kept.contains("b") && !kept.contains("a11") && kept.contains("a12"))
    }
}
