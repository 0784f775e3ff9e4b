import Foundation
import Identity
import Testing
import Wire

/// Chat messages in the rooms of sessions.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct TypedTextTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend)
    }

    private func turns(of session: String) throws -> [[String]] {
        (try ann.show(session)["turns"] as? [[String: Any]] ?? []).map { turn in ["speaker", "text"].compactMap { turn[$0] as? String } }
    }

    private func join(_ started: StartedSession, as identity: String, kind: ParticipantKind) throws -> Caller {
        try Caller(backend.gateway, room: started.room, identity: identity) { $0.kind = kind }
    }

    @Test func typedTextBecomesATurnOfItsSender() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let helper = try join(started, as: "assistant:guide", kind: .agent)
        try phone.ask(.sendText(TextMessage(text: "Where is the harbour?")))
        try helper.ask(.sendText(TextMessage(text: "Turn left.")))
        try Patience.until("both turns") { try turns(of: started.session).count == 2 }
        #expect(try turns(of: started.session) == [["user", "Where is the harbour?"], ["assistant", "Turn left."]])
    }

    @Test func onlyChatOfTheConversationIsKept() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let helper = try join(started, as: "assistant:guide", kind: .agent)
        let guest = try join(started, as: "guest", kind: .standard)
        let recorder = try join(started, as: "recorder", kind: .egress)
        let supervisor = try Caller(backend.gateway, room: started.room, identity: "supervisor") { $0.video?.hidden = true }
        let user = phone.hello.participant.identity
        try phone.ask(.sendText(TextMessage(text: "another topic", topic: "lk.transcription")))
        try phone.ask(.sendText(TextMessage(text: " \n")))
        try recorder.ask(.sendText(TextMessage(text: "a recorder's")))
        try supervisor.ask(.sendText(TextMessage(text: "a hidden participant's")))
        try helper.ask(.sendText(TextMessage(text: "not to the user", to: [guest.hello.participant.identity])))
        try guest.ask(.sendText(TextMessage(text: "nor this", to: [helper.hello.participant.identity])))
        try helper.ask(.sendText(TextMessage(text: "to the user", to: [user])))
        try phone.ask(.sendText(TextMessage(text: "from the user", to: [helper.hello.participant.identity])))
        try guest.ask(.sendText(TextMessage(text: "to all")))
        try Patience.until("the last") { try turns(of: started.session).last == ["user", "to all"] }
        #expect(try turns(of: started.session) == [["assistant", "to the user"], ["user", "from the user"], ["user", "to all"]])
    }

    @Test func participantWithoutTheRightToPublishDataAddsNothing() throws {
        let started = try ann.start()
        let phone = try started.join(backend.gateway)
        let mute = try Caller(backend.gateway, room: started.room, identity: "mute") { $0.video?.canPublishData = false }
        #expect(throws: RequestError.self) { try mute.ask(.sendText(TextMessage(text: "psst"))) }
        try phone.ask(.sendText(TextMessage(text: "hello")))
        try Patience.until("the turn") { try !turns(of: started.session).isEmpty }
        #expect(try turns(of: started.session) == [["user", "hello"]])
    }
}
