import Backend
import Engine
import PatchbayAgents
import PatchbayClient
import Testing
import Wire

/// Requests that the gateway refuses.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BadWorkerTests {
    @Test func requestsOfAProcessThatIsNoWorkerAreRefused() async throws {
        try await WorkerGateway.run { node in
            let channel = try await node.channel("helper")
            let job = JobID(text: "JB_1")
            for request: WorkerRequest in [.status(WorkerStatus(load: 0)), .accept(job), .decline(job), .finish(job, error: nil)] {
                #expect(await channel.refusal(of: request) == .notAllowed, "\(request)")
            }
            #expect(node.counters.sizes.workers == 0)
        }
    }

    @Test func invalidRegistrationsAreRefusedAndAValidOneSucceedsAfterwards() async throws {
        try await WorkerGateway.run { node in
            let channel = try await node.channel("helper")
            let cases: [(WorkerRegistration, RequestError.Code)] = [
                (WorkerRegistration(assistantID: "other", capacity: 1), .notAllowed),
                (WorkerRegistration(assistantID: "helper", capacity: 0), .invalidArgument),
                (WorkerRegistration(assistantID: "helper", capacity: 1_001), .invalidArgument),
                (WorkerRegistration(assistantID: "helper", capacity: 1, load: -0.1), .invalidArgument),
            ]
            for (registration, code) in cases { #expect(await channel.refusal(of: .register(registration)) == code, "\(registration)") }
            #expect(try await channel.request(.register(WorkerRegistration(assistantID: "helper", capacity: 1))).worker == channel.device)
            try await node.administrator().dispatch("helper", to: "room")
            _ = try await channel.offer()
        }
    }

    @Test func jobOfAnotherWorkerIsOutOfReach() async throws {
        try await WorkerGateway.run { node in
            let worker = try await HandWorker(node)
            let stranger = try await HandWorker(node, "stranger")
            try await node.administrator().dispatch("helper", to: "room")
            let (job, room) = try await worker.takeJob()
            for request: WorkerRequest in [.accept(job.id), .decline(job.id), .finish(job.id, error: nil), .finish(job.id, error: "x")] {
                #expect(await stranger.channel.refusal(of: request) == .notFound, "\(request)")
            }
            try await node.job(.running)
            await room.leave()
        }
    }

    @Test func channelOfAUserTakesNoRequestsOfWorkers() async throws {
        try await WorkerGateway.run(withStore: true) { node in
            let device = try await node.device(of: node.user("ann"))
            let registration = WorkerRegistration(assistantID: "helper", capacity: 1)
            #expect(await device.refusal(of: .register(registration)) == .notAllowed)
        }
    }

    @Test func gatewayWithoutAccountsServesNoCalls() async throws {
        try await WorkerGateway.run { node in
            let channel = try await node.channel("helper")
            await #expect(throws: CallFailure.self) { try await channel.call([.user(Identity(text: "ann"))]) }
            // The channel goes on.
            try await channel.request(.register(WorkerRegistration(assistantID: "helper", capacity: 1)))
        }
    }

    @Test func workerWhoseRegistrationIsRefusedFailsAtOnce() async throws {
        try await WorkerGateway.run { node in
            let settings = AgentWorkerSettings(url: node.url, assistant: "helper", options: WorkerGateway.options)
            let worker = AgentWorker(settings: settings, tokens: { try WorkerGateway.assistantToken("other") }, handler: { _ in })
            await #expect(throws: RequestFailure.self) { try await worker.run() }
        }
    }

    @Test func workerWithARefusedTokenFailsAtOnce() async throws {
        try await WorkerGateway.run { node in
            let settings = AgentWorkerSettings(url: node.url, assistant: "helper", options: WorkerGateway.options)
            let worker = AgentWorker(settings: settings, tokens: { "not.a.token" }, handler: { _ in })
            await #expect(throws: ConnectError.self) { try await worker.run() }
        }
    }
}
