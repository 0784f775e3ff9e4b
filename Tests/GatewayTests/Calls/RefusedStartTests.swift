import Gateway
import HTTPServer
import Identity
import Store
import Testing
import Wire

@testable import Backend
@testable import Engine

/// The coordinator of a cluster starts a call before it has noticed that another node serves calls. The store refuses the call.
@Suite(.timeLimit(.minutes(1)))
struct RefusedStartTests {
    /// Ann's node, which was the coordinator first. Bob has no device there.
    private struct Coordinator {
        let cluster: ClusterOfTwo
        let calls: CallService
        let bob: UserID
        let pushed: RecordedNames
        let commands: AsyncStream<ChannelCommand>

        var inbox: CallInbox { cluster.old.backend.callInbox }
        var start: CallRequest { .start(CallStart(to: [.user(Identity(text: bob.text))])) }

        func perform(_ request: CallRequest) async throws -> CallReply {
            try await calls.perform(request, of: cluster.user, host: "gateway.example")
        }

        func isFollowed() async throws {
            let fence = RoomFence(RoomHomes.coordinatorRoom, RoomEpoch(number: 2, claim: 1), at: .now)
            try await cluster.store.webhooks.raise(fence)
        }

        /// The events of all webhooks.
        func webhooks() async throws -> [String] {
            try await cluster.old.backend.auditEvents.performing(RoomHomes.coordinatorRoom) { _ in }
            return try await cluster.store.webhooks.list(limit: 1_000).map(\.webhook.event)
        }

        static func run(_ story: (Coordinator) async throws -> Void) async throws {
            try await ClusterOfTwo.run { cluster in
                let pushed = RecordedNames()
                let (commands, continuation) = AsyncStream.makeStream(of: ChannelCommand.self)
                let writer = WebhookWriter(to: [ClusterNode.endpoint], node: cluster.old.name)
                let server = ServerInfo(version: "tests", node: "n")
                var collaborators = CallCollaborators(server: server, announcement: { writer.announcement(of: $0, at: .now) })
                collaborators.writesAs = RoomHomes.coordinatorRoom
                collaborators.storeWaitMax = Patience.usual
                collaborators.push = { if case .call(let call) = $0.reason { pushed.note(call.id.text) } }
                let shards = ShardControl(count: 0, homeShard: { _ in nil }, isDraining: { false }) { request, _ in
                    if case .device(let command) = request { continuation.yield(command) }
                }
                let calls = cluster.old.backend.callService(
                    RoomService(shards: shards), keys: KeysInUse(TestToken.keys), server: server, collaborators: collaborators)
                let running = Task { try await calls.run() }
                cluster.old.host(ClusterOfTwo.room(RoomHomes.coordinatorRoom), 1)
                try await cluster.old.recovery.continueCalls()
                let bob = try await cluster.store.accounts.user(issuer: "tests", subject: "bob", email: nil, at: .now).id
                try await story(Coordinator(cluster: cluster, calls: calls, bob: bob, pushed: pushed, commands: commands))
                cluster.old.backend.callInbox.finish()
                try await running.value
            }
        }
    }

    @Test func itIsAnsweredWithAnErrorAndLeavesNothingBehind() async throws {
        try await Coordinator.run { coordinator in
            let first = try #require(try await coordinator.perform(coordinator.start).call)
            #expect(coordinator.pushed.names == [first.id.text])
            _ = try await coordinator.perform(.cancel(first.id))
            let webhooks = try await coordinator.webhooks()
            #expect(webhooks.contains("call_cancelled"))

            try await coordinator.isFollowed()
            let error = await #expect(throws: HTTPError.self) { try await coordinator.perform(coordinator.start) }
            #expect(error?.code == .homeUnavailable && error?.retryAfterSeconds != nil, "the client tries again")
            #expect(coordinator.pushed.names == [first.id.text], "Bob's phone is not woken")
            #expect(try await coordinator.webhooks() == webhooks)
            #expect(try await coordinator.cluster.store.webhooks.openAnnouncements().isEmpty)
            #expect(try await coordinator.calls.calls(of: coordinator.cluster.user).isEmpty)

            // The broker knows of no other coordinator, so that this one goes on in a higher epoch.
            coordinator.cluster.old.host(ClusterOfTwo.room(RoomHomes.coordinatorRoom), 3)
            let next = try #require(try await coordinator.perform(coordinator.start).call)
            #expect(coordinator.pushed.names == [first.id.text, next.id.text])
        }
    }

    @Test func devicesLearnNothingOfItAndReconnect() async throws {
        try await Coordinator.run { coordinator in
            let tokens = coordinator.cluster.old.backend.accounts.tokens
            let (subject, expires) = try tokens.verify(
                tokens.mint(for: coordinator.cluster.user, now: TestToken.now), now: TestToken.now)
            let device = DeviceID(text: "DV_1")
            let address = ChannelAddress(id: device, shard: 0, number: 7, host: "gateway.example", expires: expires)
            coordinator.inbox.post(.opened(address, .user(subject)))
            var commands = coordinator.commands.makeAsyncIterator()
            guard case .send(let hello, to: [7])? = await commands.next(), case .hello = try CallMessage(parsing: hello) else {
                throw DidNotHappen(what: "hello first")
            }
            try await coordinator.isFollowed()
            coordinator.inbox.post(.request(coordinator.start, id: 1, from: device))
            guard case .refuse(let code, let reply?, to: 7)? = await commands.next() else { throw DidNotHappen(what: "a refusal") }
            guard case .error(re: 1, let error) = try CallMessage(parsing: reply) else { throw DidNotHappen(what: "an error") }
            #expect(code == .limitExceeded && error.error.retryable)
            guard case .close(7, .serverShutdown)? = await commands.next() else { throw DidNotHappen(what: "the end of the channel") }
            #expect(coordinator.pushed.names.isEmpty)
        }
    }
}
