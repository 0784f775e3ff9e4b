import Foundation

@testable import Store

/// The conversations in `Fixtures/dialogues`: a line for a turn, `user: …` or `assistant: …`.
enum Dialogues {
    static let start = WallTime(milliseconds: 1_795_000_000_000)

    static func turns(_ name: String) throws -> [Turn] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = folder.appending(path: "Fixtures/dialogues/\(name).txt")
        return turns(of: try String(contentsOf: file, encoding: .utf8))
    }

    static func turns(of text: String) -> [Turn] {
        let session = SessionID()
        return text.split(separator: "\n").enumerated().compactMap { index, line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let speaker = Turn.Speaker(rawValue: String(parts[0])) else { return nil }
            return Turn(
                id: TurnID(), sessionID: session, timestamp: start + .seconds(index * 5), speaker: speaker,
                text: String(parts[1].drop { $0 == " " }))
        }
    }

    static func session(of turns: [Turn] = [], endedAfter seconds: Int? = 90) -> Session {
        Session(
            id: turns.first?.sessionID ?? SessionID(), userID: UserID(), context: "phone", startedAt: start,
            endedAt: seconds.map { start + .seconds($0) }, loggingEnabledSnapshot: true)
    }

    static func summary(_ name: String) async throws -> SummaryContent {
        let turns = try turns(name)
        return try await ExtractiveSummarizer().summary(of: session(of: turns), turns: turns)
    }
}
