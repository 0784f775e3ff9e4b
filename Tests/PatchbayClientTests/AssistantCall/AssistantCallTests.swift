import Audio
import Foundation
import Identity
import PatchbayClient
import Synchronization
import Testing
import Wire

/// Calls through a real gateway, with devices and a backend controlled by the tests.
@Suite(.timeLimit(.minutes(2)))
struct AssistantCallTests {
    /// A tone as the microphone, and a speaker that records what it plays.
    private final class ToneAudio: AssistantCallAudio {
        private struct Denied: Error {}

        private let isPermitted: Bool
        private let state = Mutex((heard: [Int16](), stops: 0))

        init(isPermitted: Bool = true) {
            self.isPermitted = isPermitted
        }

        var heard: [Int16] { state.withLock { $0.heard } }
        var stops: Int { state.withLock { $0.stops } }

        func microphone() throws -> AsyncStream<[Int16]> {
            guard isPermitted else { throw Denied() }
            return AsyncStream { Sound.tone(milliseconds: 20).samples }
        }

        func play(_ chunk: PCMChunk, of track: TrackSID) {
            state.withLock { if chunk.content == .sound { $0.heard += chunk.samples } }
        }

        func stop() { state.withLock { $0.stops += 1 } }
    }

    /// The gateway's routes; some of them block until the test releases them.
    private final class SlowBackend: AssistantCallBackend {
        private let sessions: Sessions
        private let isStartSlow: Bool
        private let gate = AsyncStream.makeStream(of: Void.self)
        private let state = Mutex((ended: [String](), logged: [String]()))

        init(_ sessions: Sessions, isStartSlow: Bool = false) {
            self.sessions = sessions
            self.isStartSlow = isStartSlow
        }

        var ended: [String] { state.withLock { $0.ended } }
        var logged: [String] { state.withLock { $0.logged } }

        func open() { gate.continuation.finish() }

        func start(_ request: AssistantCallRequest, idempotencyKey: String) async throws(AccountError) -> Sessions.Started {
            if isStartSlow { for await _ in gate.stream {} }
            return try await sessions.start(request, idempotencyKey: idempotencyKey)
        }

        func end(session id: String) async throws(AccountError) {
            for await _ in gate.stream {}
            try await sessions.end(session: id)
            state.withLock { $0.ended.append(id) }
        }

        func log(_ turn: Sessions.NewTurn, session id: String, idempotencyKey: String) async throws(AccountError) {
            for await _ in gate.stream {}
            try await sessions.log(turn, session: id, idempotencyKey: idempotencyKey)
            state.withLock { $0.logged.append(turn.text) }
        }
    }

    private struct CallEnded: Error {
        var state: AssistantCallState
    }

    /// Waits for a state.
    private func wait(_ call: AssistantCall, until isReached: (AssistantCallState) -> Bool) async throws {
        for await state in call.states {
            if isReached(state) { return }
            if case .ended = state.phase { throw CallEnded(state: state) }
        }
    }

    @Test func userAndAssistantHearEachOther() async throws {
        try await CallGateway.run { gateway in
            let account = try await SessionsTests.account(gateway)
            let audio = ToneAudio()
            let call = AssistantCall(backend: account.sessions, audio: audio, options: gateway.options)
            #expect(call.state.phase == .idle)
            call.start(AssistantCallRequest(.phone, isLoggingEnabled: true))
            try await wait(call) { $0.phase == .active }
            #expect(call.state.showsRecordingNotice)
            let session = try #require(call.state.sessionID)

            let assistant = try await gateway.assistant(inRoom: "session-\(session)")
            let user = try await account.user().id
            let voice = try await assistant.track(of: user)
            let heard = Task { await assistant.pcm(of: voice.sid).prefix(50).flatMap(\.samples) }
            let track = try await assistant.publish(name: "voice", source: .assistant)
            try await assistant.setAgentState(.speaking)
            try await track.speak(Sound.tone(milliseconds: 1_000, hertz: 660))
            try await wait(call) { $0.assistant == .present(.speaking) }
            #expect(Sound.energy(of: await heard.value[...]) > 0)
            while Sound.energy(of: audio.heard[...]) == 0 { try await Task.sleep(for: .milliseconds(10)) }
            await assistant.leave()
            try await wait(call) { $0.assistant == .gone }

            call.end()
            #expect(call.state.phase == .ended(.hungUp))
            await call.settled()
            #expect(try await account.sessions.detail(session).session.endedAt != nil)
            while audio.stops == 0 { try await Task.sleep(for: .milliseconds(5)) }
        }
    }

    @Test func aSlowBackendDelaysNeitherTheCallNorItsEnd() async throws {
        try await CallGateway.run { gateway in
            let account = try await SessionsTests.account(gateway)
            let backend = SlowBackend(account.sessions)
            let call = AssistantCall(backend: backend, audio: ToneAudio(), options: gateway.options)
            call.start(AssistantCallRequest(.phone, isLoggingEnabled: true))
            try await wait(call) { $0.phase == .active }
            let first = try #require(call.state.sessionID)
            for text in ["one", "two", "three"] {
                call.log(Sessions.NewTurn(speaker: .user, text: text, timestamp: Date()))
            }
            call.end()
            #expect(call.state.phase == .ended(.hungUp))
            // The next call starts before the backend has responded.
            call.start(AssistantCallRequest(.phone))
            try await wait(call) { $0.phase == .active }
            #expect(backend.ended == [] && backend.logged == [])
            call.end()
            backend.open()
            await call.settled()
            #expect(backend.logged == ["one", "two", "three"] && backend.ended.contains(first) && backend.ended.count == 2)
            #expect(try await account.sessions.detail(first).turns.map(\.text) == ["one", "two", "three"])
        }
    }

    @Test func hangingUpWhileTheSessionStartsEndsItLater() async throws {
        try await CallGateway.run { gateway in
            let account = try await SessionsTests.account(gateway)
            let backend = SlowBackend(account.sessions, isStartSlow: true)
            let call = AssistantCall(backend: backend, audio: ToneAudio(), options: gateway.options)
            call.start(AssistantCallRequest(.phone))
            call.end()
            #expect(call.state.phase == .ended(.hungUp))
            backend.open()
            while backend.ended.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try await account.sessions.list().sessions.first?.endedAt != nil)
        }
    }

    @Test func aSessionThatAnotherDeviceEndsEndsTheCall() async throws {
        try await CallGateway.run { gateway in
            let account = try await SessionsTests.account(gateway)
            let call = AssistantCall(backend: account.sessions, audio: ToneAudio(), options: gateway.options)
            call.start(AssistantCallRequest(.carplay))
            try await wait(call) { $0.phase == .active }
            try await account.sessions.end(try #require(call.state.sessionID))
            for await state in call.states where !state.isInCall { break }
            #expect(call.state.phase == .ended(.endedElsewhere))
            await call.settled()
        }
    }

    @Test func aRefusedMicrophoneLeavesTheCallOn() async throws {
        try await CallGateway.run { gateway in
            let account = try await SessionsTests.account(gateway)
            let call = AssistantCall(backend: account.sessions, audio: ToneAudio(isPermitted: false), options: gateway.options)
            call.start(AssistantCallRequest(.phone))
            try await wait(call) { $0.microphoneProblem != nil }
            #expect(call.state.phase == .active)
            call.end()
            await call.settled()
        }
    }

    @Test func muteReachesTheRoomBeforeAndDuringTheCall() async throws {
        try await CallGateway.run { gateway in
            let account = try await SessionsTests.account(gateway)
            let call = AssistantCall(backend: account.sessions, audio: ToneAudio(), options: gateway.options)
            call.start(AssistantCallRequest(.phone))
            call.setMuted(true)
            try await wait(call) { $0.phase == .active }
            let assistant = try await gateway.assistant(inRoom: "session-\(try #require(call.state.sessionID))")
            let user = try await account.user().id
            _ = try await assistant.track(of: user)
            while assistant.snapshot.tracks.first?.muted != true { try await Task.sleep(for: .milliseconds(5)) }
            call.setMuted(false)
            while assistant.snapshot.tracks.first?.muted != false { try await Task.sleep(for: .milliseconds(5)) }
            call.end()
            await assistant.leave()
            await call.settled()
        }
    }

    @Test func withoutALoginACallFails() async throws {
        let account = try Account(url: "https://127.0.0.1:1", trust: .anybody)
        let call = AssistantCall(backend: account.sessions, audio: ToneAudio())
        call.start(AssistantCallRequest(.phone))
        for await state in call.states where !state.isInCall { break }
        #expect(call.state.phase == .ended(.failed(.loggedOut)))
    }
}

extension CallGateway {
    /// Connects an assistant to a room.
    fileprivate func assistant(inRoom room: String) async throws -> RoomConnection {
        guard let signer = keys.signer else { preconditionFailure("these keys sign") }
        let claims = AccessToken(
            identity: "assistant:default", expires: Int64(Date().timeIntervalSince1970) + 600, kind: .agent, video: .joining(room))
        return try await RoomConnection.connect(url: url, token: try TokenMinter.mint(claims, with: signer), options: options)
    }
}
