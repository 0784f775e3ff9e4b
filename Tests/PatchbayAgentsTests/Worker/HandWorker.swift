import PatchbayAgents
import PatchbayClient
import Synchronization
import Testing
import Wire

/// A worker whose every step a test takes by hand. Its connections do not reconnect, so that it can be killed.
struct HandWorker: Sendable {
    let channel: Channel

    static var options: RoomOptions {
        var options = WorkerGateway.options
        options.reconnect = .never
        return options
    }

    init(_ node: WorkerGateway, _ assistant: String = "helper", capacity: Int = 10) async throws {
        channel = try await Channel.connect(
            url: node.url, userToken: try WorkerGateway.assistantToken(assistant), options: Self.options)
        try await channel.request(.register(WorkerRegistration(assistantID: assistant, capacity: capacity)))
    }

    /// Accepts the next offer and joins the room.
    func takeJob() async throws -> (job: JobInfo, room: RoomConnection) {
        let reply = try await accept()
        return (try #require(reply.job), try await join(with: reply))
    }

    /// Accepts an offer. One that has expired meanwhile comes again.
    func accept() async throws -> CallReply {
        while true {
            let offer = try await channel.offer()
            do throws(RequestFailure) { return try await channel.request(.accept(offer.id)) } catch {
                guard case .refused(let refusal) = error, refusal.code == .conflict else { throw error }
            }
        }
    }

    func join(with reply: CallReply) async throws -> RoomConnection {
        let (url, token) = (try #require(reply.livekitUrl), try #require(reply.livekitToken))
        return try await RoomConnection.connect(url: url, token: token, options: Self.options)
    }

    /// As the death of the process does: its sockets close without a word.
    func die(in room: RoomConnection? = nil) {
        channel.dropConnection()
        room?.dropConnection()
    }
}

/// A worker whose next offer is being read.
final class OfferedWorker: Sendable {
    let channel: Channel
    let offer: Task<JobInfo, any Error>
    private let hasOffer = Mutex(false)

    init(_ worker: HandWorker) {
        let channel = worker.channel
        self.channel = channel
        offer = Task { try await channel.offer() }
        Task { [self] in
            _ = try await offer.value
            hasOffer.withLock { $0 = true }
        }
    }

    /// Waits until one of them has an offer.
    static func first(of workers: [OfferedWorker]) async throws -> OfferedWorker {
        try await eventually("an offer") { workers.contains { $0.hasOffer.withLock { $0 } } }
        return try #require(workers.first { $0.hasOffer.withLock { $0 } })
    }
}
