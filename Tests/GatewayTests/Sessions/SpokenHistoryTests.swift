import Foundation
import Identity
import Testing
import Wire

/// An interrupted reply, from the assistant's connection to the session's record.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SpokenHistoryTests {
    /// 12 Unicode scalars, but 11 characters and 13 UTF-16 code units.
    private static let spoken = "Cafe\u{301} \u{1F3BB} now,"
    private static let unspoken = " and the secret never"

    @Test func anInterruptedReplyKeepsOnlyItsSpokenPart() throws {
        let backend = try TestBackend()
        let ann = try AppUser(backend)
        let started = try ann.start()
        let assistant = try Caller(backend.gateway, room: started.room, identity: "helper") { $0.kind = .agent }
        var segment = TranscriptSegment(id: "s1", role: .assistant, text: Self.spoken + Self.unspoken, final: true)
        try assistant.ask(.segment(segment))
        try Patience.until("the whole reply") { try ann.words(of: started.session) == [Self.spoken + Self.unspoken] }
        segment.rev = 1
        (segment.spoken, segment.spokenChars) = (.interrupted, Self.spoken.unicodeScalars.count)
        try assistant.ask(.segment(segment))
        try Patience.until("the spoken part") { try ann.words(of: started.session) != [Self.spoken + Self.unspoken] }
        let words = try ann.words(of: started.session)
        #expect(words.map { Array($0.unicodeScalars) } == [Array(Self.spoken.unicodeScalars)])
        #expect(try !ann.ask("GET", "/v1/sessions/\(started.session)").text.contains("secret"))

        // Nothing of it was played: the turn is deleted.
        (segment.rev, segment.spokenChars) = (2, 0)
        try assistant.ask(.segment(segment))
        try Patience.until("no turn") { try ann.words(of: started.session).isEmpty }
    }
}
