import Backend
import Foundation
import Gateway
import Store
import Testing
import Wire

/// The webhooks of a room, its session and its call are stored in the order of what they report.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(2)))
struct WebhookOrderTests {
    private let backend: TestBackend

    init() throws {
        backend = try TestBackend(webhookEndpoints: ["https://hooks.example/"])
    }

    /// The stored webhooks' events by room, in order.
    private func events() async throws -> [String: [String]] {
        let stored = try await backend.store.webhooks.list(limit: 10_000).sorted { $0.number < $1.number }
        return Dictionary(grouping: stored, by: \.webhook.room).mapValues { $0.map(\.webhook.event) }
    }

    /// The events by room, once each of `count` rooms has this one.
    private func events(after last: String, inRooms count: Int) async throws -> [String: [String]] {
        for _ in 0..<1_000 {
            let events = try await events()
            if events.values.count(where: { $0.contains(last) }) == count { return events }
            try await Task.sleep(for: .milliseconds(30))
        }
        throw DidNotHappen(what: "\(last) in \(count) rooms")
    }

    private func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await OwnThread.run { try body(number) } } }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [true, false]) func sessionsThatEndTogetherAreReportedInOrder(_ endsByRequest: Bool) async throws {
        let ann = try AppUser(backend)
        let count = 24
        let startedSessions = try (0..<count).map { _ in try ann.start() }
        for started in startedSessions { try ann.say("Please book a table for two at the harbour tomorrow at seven.", in: started.session) }
        try await together(count) { [backend] number in
            let caller = try startedSessions[number].join(backend.gateway)
            if endsByRequest {
                #expect(try ann.end(startedSessions[number].session).status == 200)
            } else {
                try caller.socket.send(text: #"{"type":"leave"}"#)
            }
            _ = try caller.closeCode()
        }
        let events = try await events(after: "summary_ready", inRooms: count)
        let expected = ["room_started", "participant_joined", "participant_left", "room_finished", "session_ended", "summary_ready"]
        for started in startedSessions { #expect(events[started.room] == expected) }
    }

    @Test func sessionWithoutARoomIsReportedToo() async throws {
        let ann = try AppUser(backend)
        let started = try ann.start()
        for _ in 1...2 { #expect(try ann.end(started.session).status == 200) }
        // The summary may be there already.
        let events = try await events()[started.room] ?? []
        #expect(events.filter { $0 != "summary_ready" } == ["session_ended"] && events.first == "session_ended")
    }

    @Test(arguments: [true, false]) func callsAreReportedInOrderWithTheirRooms(_ endsByRequest: Bool) async throws {
        let count = 8
        let users = try (0..<2 * count).map { try AppUser(backend, "user-\($0)@example.org") }
        try await together(count) { [backend] number in
            let pair = [users[2 * number], users[2 * number + 1]]
            let devices = try pair.map {
                try TestDevice(backend.gateway.webSocket(.upgrade(token: $0.accessToken, path: "/v1/events")))
            }
            let made = try devices[0].start(.user(Identity(text: pair[1].id)))
            let caller = try made.join(backend.gateway)
            let callee = try devices[1].ask(.answer(made.id)).join(backend.gateway)
            if endsByRequest {
                try devices[0].ask(.hangUp(made.id))
            } else {
                try caller.socket.send(text: #"{"type":"leave"}"#)
            }
            _ = try callee.closeCode()
        }
        for events in try await events(after: "room_finished", inRooms: count).values {
            let first = { (name: String) in events.firstIndex(of: name) ?? -1 }
            let second = { (name: String) in events.indices.filter { events[$0] == name }.dropFirst().first ?? -1 }
            #expect(first("call_started") == 0, "\(events)")
            #expect(first("room_started") < first("participant_joined"), "\(events)")
            #expect(first("call_answered") > 0 && first("call_answered") < second("participant_joined"), "\(events)")
            #expect(first("call_completed") > second("participant_joined"), "\(events)")
            if !endsByRequest { #expect(first("participant_left") < first("call_member_left"), "\(events)") }
            #expect(events.last == "room_finished", "\(events)")
        }
    }
}
