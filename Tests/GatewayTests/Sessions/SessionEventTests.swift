import Foundation
import Testing
import Wire

/// What a user's channel tells of its sessions.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct SessionEventTests {
    private let backend: TestBackend
    private let ann: AppUser

    init() throws {
        backend = try TestBackend()
        ann = try AppUser(backend)
    }

    /// Opens a channel and reads `hello`.
    private func channel(of user: AppUser) throws -> RawWebSocket {
        let socket = try backend.gateway.webSocket(.upgrade(token: user.accessToken, path: "/v1/events"))
        #expect(try next(on: socket)?["type"] as? String == "hello")
        return socket
    }

    private func next(on socket: RawWebSocket) throws -> [String: Any]? {
        guard case .text(let text) = try socket.next() else { return nil }
        return try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
    }

    /// The next message's type, session and summary status.
    private func event(on socket: RawWebSocket) throws -> [String?] {
        let message = try next(on: socket)
        let session = (message?["data"] as? [String: Any])?["session"] as? [String: Any]
        #expect(session?["user_id"] as? String == ann.id)
        return [message?["type"] as? String, session?["id"] as? String, session?["summary_status"] as? String]
    }

    @Test func allDevicesOfTheUserLearnOfASession() throws {
        let channels = [try channel(of: ann), try channel(of: ann)]
        let session = try ann.start(key: "tap").session
        #expect(try ann.start(key: "tap").session == session)
        try ann.say("Please book a table for two at the harbour tomorrow at seven.", in: session)
        for _ in 1...2 { try ann.end(session) }
        for channel in channels {
            #expect(try event(on: channel) == ["session.started", session, "pending"])
            #expect(try event(on: channel) == ["session.ended", session, "pending"])
            #expect(try event(on: channel) == ["session.summary_ready", session, "ready"])
        }
    }

    @Test func otherUsersLearnNothing() throws {
        let bob = try AppUser(backend, "bob@example.org")
        let channel = try channel(of: bob)
        let session = try ann.start().session
        try ann.say("Please book a table for two at the harbour tomorrow at seven.", in: session)
        try ann.end(session)
        try Patience.until("a summary") { try ann.show(session)["summary"] is [String: Any] }
        try channel.send(text: #"{"type":"ping","id":1,"data":{"t":7}}"#)
        #expect(try next(on: channel)?["type"] as? String == "reply", "nothing came before")
    }

    @Test func sessionThatEndsWithItsRoomIsToldToo() throws {
        let channel = try channel(of: ann)
        let started = try ann.start()
        let caller = try started.join(backend.gateway)
        try caller.socket.send(text: #"{"type":"leave"}"#)
        #expect(try event(on: channel)[0] == "session.started")
        #expect(try event(on: channel) == ["session.ended", started.session, "pending"])
    }
}
