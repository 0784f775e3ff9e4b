import Synchronization
import Wire

@testable import PatchbayAgents

/// A realtime provider that responds as a script says, and keeps what it is sent.
final class ScriptedRealtime: RealtimeProvider {
    enum Step: Sendable {
        /// Speaks a text, 200 ms for each word. The transcript comes first, as with real providers.
        case speaks(item: String, String)
        case event(RealtimeEvent)
        /// The response goes on until it is cancelled.
        case pauses
        /// The session is lost.
        case breaks
    }

    enum Request: Sendable, Hashable {
        case open
        /// Committed audio.
        case speech(milliseconds: Int)
        case user(String)
        case assistant(String)
        case result(String, call: String)
        case respond, cancel, close
        case truncate(item: String, played: Duration)
        /// A response was requested although another one was in progress.
        case violation
    }

    fileprivate struct State {
        var responses: [[Step]]
        var requests: [Request] = []
        var configurations: [RealtimeConfiguration] = []
        var failuresLeft: Int
    }

    fileprivate let state: Mutex<State>

    /// - Parameter failures: so many sessions cannot be opened.
    init(failures: Int = 0, _ responses: [Step]...) {
        state = Mutex(State(responses: responses, failuresLeft: failures))
    }

    var requests: [Request] { state.withLock { $0.requests } }
    var configurations: [RealtimeConfiguration] { state.withLock { $0.configurations } }

    func count(of request: Request) -> Int { requests.count(where: { $0 == request }) }

    func open(_ configuration: RealtimeConfiguration) async throws -> any RealtimeSession {
        let fails = state.withLock { state in
            state.requests.append(.open)
            state.configurations.append(configuration)
            state.failuresLeft -= 1
            return state.failuresLeft >= 0
        }
        if fails { throw ProviderError(.timeout, "scripted") }
        return ScriptedSession(self)
    }

    fileprivate func note(_ request: Request) { state.withLock { $0.requests.append(request) } }
}

private final class ScriptedSession: RealtimeSession {
    let events: AsyncThrowingStream<RealtimeEvent, any Error>
    private let sink: AsyncThrowingStream<RealtimeEvent, any Error>.Continuation
    private let provider: ScriptedRealtime
    private let state = Mutex((samples: 0, isResponding: false))

    init(_ provider: ScriptedRealtime) {
        self.provider = provider
        (events, sink) = AsyncThrowingStream.makeStream()
    }

    func send(_ request: RealtimeRequest) {
        switch request {
        case .appendAudio(let samples): state.withLock { $0.samples += samples.count }
        case .commitAudio: commit()
        case .clearAudio: state.withLock { $0.samples = 0 }
        case .appendUserText(let text): provider.note(.user(text))
        case .appendAssistantText(let text): provider.note(.assistant(text))
        case .appendToolResult(let text, let call): provider.note(.result(text, call: call))
        case .createResponse: respond()
        case .cancelResponse: cancelResponse()
        case .truncate(let item, let played): provider.note(.truncate(item: item, played: played))
        }
    }

    private func commit() {
        let samples = state.withLock { state in
            defer { state.samples = 0 }
            return state.samples
        }
        provider.note(.speech(milliseconds: samples * 1_000 / RealtimeConfiguration.sampleRate))
    }

    private func respond() {
        provider.note(.respond)
        let steps = provider.state.withLock { $0.responses.isEmpty ? [] : $0.responses.removeFirst() }
        let wasResponding = state.withLock { state in
            defer { state.isResponding = true }
            return state.isResponding
        }
        if wasResponding { provider.note(.violation) }
        sink.yield(.responseStarted(id: "r"))
        for step in steps {
            switch step {
            case .speaks(let item, let text): speak(text, in: item)
            case .event(let event): sink.yield(event)
            case .pauses: return
            case .breaks: return sink.finish(throwing: ProviderError(.disconnected, "scripted"))
            }
        }
        state.withLock { $0.isResponding = false }
        sink.yield(.responseDone(id: "r", .completed))
    }

    private func speak(_ text: String, in item: String) {
        let words = text.split(separator: " ")
        for word in words { sink.yield(.transcriptDelta(item: item, "\(word) ")) }
        let tone = (0..<RealtimeConfiguration.sampleRate / 5).map { Int16($0 / 30 % 2 == 0 ? 5_000 : -5_000) }
        for _ in words { sink.yield(.audio(item: item, samples: tone)) }
    }

    private func cancelResponse() {
        provider.note(.cancel)
        let wasResponding = state.withLock { state in
            defer { state.isResponding = false }
            return state.isResponding
        }
        if wasResponding { sink.yield(.responseDone(id: "r", .cancelled)) }
    }

    func close() {
        provider.note(.close)
        sink.finish()
    }
}
