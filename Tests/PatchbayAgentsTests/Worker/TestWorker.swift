import Foundation
import PatchbayAgents
import PatchbayClient
import Synchronization
import Testing
import Wire

/// A worker whose handler joins the room, publishes a track and stays until the room ends or the job is cancelled.
final class TestWorker: Sendable {
    let worker: AgentWorker
    private let running: Task<Void, any Error>

    /// - Parameter handler: called for each job after it is recorded; nil is `stay`.
    init(
        _ node: WorkerGateway, _ assistant: String = "helper", capacity: Int = 10, drainTimeout: Duration = .seconds(60),
        handler: (@Sendable (AgentJob) async throws -> Void)? = nil, load: @escaping @Sendable () -> Double = { 0 }
    ) {
        let settings = AgentWorkerSettings(
            url: node.url, assistant: assistant, capacity: capacity, options: WorkerGateway.options, drainTimeout: drainTimeout,
            measureLoad: load)
        let recorder = Recorder()
        let worker = AgentWorker(settings: settings, tokens: { try WorkerGateway.assistantToken(assistant) }) { job in
            recorder.append(job)
            try await (handler ?? Self.stay)(job)
        }
        self.worker = worker
        self.recorder = recorder
        running = Task { try await worker.run() }
    }

    private let recorder: Recorder

    private final class Recorder: Sendable {
        private let jobs = Mutex<[AgentJob]>([])
        func append(_ job: AgentJob) { jobs.withLock { $0.append(job) } }
        var all: [AgentJob] { jobs.withLock { $0 } }
    }

    /// The jobs whose handlers have started.
    var jobs: [AgentJob] { recorder.all }

    /// Waits until it is registered.
    func registered() async throws -> TestWorker {
        try await eventually("a registration") { await self.worker.isRegistered }
        return self
    }

    /// Ends it in an orderly way.
    func stop() async throws {
        running.cancel()
        _ = await running.result
    }

    /// Waits until `drain` has ended `run`.
    func ended() async throws { try await running.value }

    static func stay(_ job: AgentJob) async throws {
        let room = try await job.connect()
        _ = try await room.publish(name: "voice", source: .assistant)
        for await event in room.events { if case .disconnected = event { break } }
        await room.leave()
    }
}

/// Waits for a condition for at least 30 s.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    for _ in 0..<6_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(5))
    }
    throw DidNotHappen(what: what)
}

extension RoomConnection {
    /// Reads events until `pick` returns a value.
    func first<Found>(_ pick: (RoomEvent) -> Found?) async throws -> Found {
        for await event in events { if let found = pick(event) { return found } }
        throw DidNotHappen(what: "the expected event")
    }

    /// Waits for an agent and returns the names of the events about agents until then.
    func agent(_ identity: String = "assistant:helper") async throws -> [String] {
        var words: [String] = []
        return try await first { event -> [String]? in
            switch event {
            case .gateway(.agentJoined(let agent), _) where agent.identity.text == identity: return words + ["agent.joined"]
            case .gateway(.agentLost(let lost, _), _) where lost.text == identity:
                words.append("agent.lost")
                return nil
            default: return nil
            }
        }
    }
}

extension Channel {
    /// Reads events until the next one of a job.
    func job() async throws -> JobEvent {
        for await event in events { if case .job(let job) = event { return job } }
        throw DidNotHappen(what: "an event of a job")
    }

    func offer() async throws -> JobInfo {
        while true { if case .offered(let job) = try await job() { return job } }
    }

    /// The error code of a request's refusal.
    func refusal(of request: WorkerRequest) async -> RequestError.Code? {
        do throws(RequestFailure) {
            try await self.request(request)
            return nil
        } catch .refused(let error) {
            return error.code
        } catch {
            return nil
        }
    }
}
