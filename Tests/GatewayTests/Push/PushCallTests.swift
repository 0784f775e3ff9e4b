import Backend
import Engine
import Foundation
import Gateway
import Store
import Synchronization
import Testing
import Wire

/// Calls of users whose devices are not connected.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct PushCallTests {
    /// A gateway that records pushes instead of sending them.
    private final class World: Sendable {
        let node: CallTestGateway
        private let recorded: Recorded

        final class Recorded: Sendable {
            let pushes = Mutex<[PushRequest]>([])
        }

        init() throws {
            let recorded = Recorded()
            self.recorded = recorded
            var collaborators = CallCollaborators(server: ServerInfo(version: "tests", node: "n"))
            collaborators.push = { push in recorded.pushes.withLock { $0.append(push) } }
            node = try CallTestGateway(collaborators: collaborators)
        }

        var pushes: [PushRequest] { recorded.pushes.withLock { $0 } }
    }

    @Test func calleeWithoutADeviceIsPushedUntilTheRingingEnds() async throws {
        let world = try World()
        let (ann, bob) = (try await world.node.user("ann"), try await world.node.user("bob"))
        let call = try ann.device().start(bob.party)
        // The caller is answered before the push is asked for.
        try Patience.until("a push") { !world.pushes.isEmpty }
        let push = try #require(world.pushes.first)
        #expect(world.pushes.count == 1 && push.call == call.id && push.user == bob.id)
        let left = push.expiresAt.milliseconds - Int64(Date().timeIntervalSince1970 * 1_000)
        #expect(30_000...45_000 ~= left)
    }

    @Test func connectedCalleeIsPushedOnlyOnceItsDeviceIsLost() async throws {
        let world = try World()
        let (ann, bob) = (try await world.node.user("ann"), try await world.node.user("bob"))
        let device = try bob.device()
        let caller = try ann.device()
        let call = try caller.start(bob.party)
        try device.event(.incoming)
        // Answered when everything about the start is done.
        try caller.ask(.mute(call.id, muted: false))
        #expect(world.pushes.isEmpty)
        device.socket.socket.close()
        try Patience.until("a push") { world.pushes.map(\.call) == [call.id] }
        let second = try bob.device()
        second.socket.socket.close()
        try Patience.until("its channel is closed") { try world.node.gateway.value(Counter(name: "patchbay_devices")) == 1 }
        try caller.ask(.mute(call.id, muted: true))
        #expect(world.pushes.count == 1, "a device that comes and goes is not woken again and again")
    }

    @Test func groupMembersArePushedEach() async throws {
        let world = try World()
        let (ann, bob, cat) = (try await world.node.user("ann"), try await world.node.user("bob"), try await world.node.user("cat"))
        let caller = try ann.device()
        let call = try caller.start(bob.party)
        try caller.ask(.invite(call.id, [cat.party]))
        try Patience.until("two pushes") { world.pushes.count >= 2 }
        #expect(world.pushes.map(\.user) == [bob.id, cat.id])
    }

    @Test func registeredDevicesAreInTheWebhook() async throws {
        let backend = try TestBackend(webhookEndpoints: ["https://hooks.example/in"])
        let (ann, bob) = (try AppUser(backend, logs: false), try AppUser(backend, "bob@example.org", logs: false))
        let registered = try bob.ask("POST", "/v1/devices", ["platform": "android", "push_token": "a-secret-token"])
        #expect(registered.status == 201 && !registered.text.contains("a-secret-token"))
        let call = try #require(try ann.ask("POST", "/v1/calls", ["to": [bob.id]]).json?["call_id"] as? String)
        var found: StoredWebhook?
        while found == nil {
            found = try await backend.store.webhooks.list(.waiting).first { $0.webhook.event == "push.call_incoming" }
            try await Task.sleep(for: .milliseconds(2))
        }
        let webhook = try #require(found)
        #expect(webhook.webhook.userID?.text == bob.id && (webhook.webhook.lifetime ?? .zero) <= .seconds(45))
        let body = try #require(try JSONSerialization.jsonObject(with: Data(webhook.webhook.body.utf8)) as? [String: Any])
        #expect((body["call"] as? [String: Any])?["id"] as? String == call)
        let devices = (body["push"] as? [String: Any])?["devices"] as? [[String: String]]
        #expect(devices?.map { $0["pushToken"] } == ["a-secret-token"] && devices?.first?["platform"] == "android")
        #expect(try !backend.place.holds("a-secret-token"))
    }

    @Test func devicesAreListedAndRemoved() throws {
        let backend = try TestBackend()
        let (ann, bob) = (try AppUser(backend, logs: false), try AppUser(backend, "bob@example.org", logs: false))
        let id = try #require(
            try ann.ask("POST", "/v1/devices", ["platform": "web", "push_token": "t"]).json?["id"] as? String)
        #expect(try ann.ask("GET", "/v1/devices").text.contains(id))
        #expect(try bob.ask("GET", "/v1/devices").text == "[]")
        #expect(try bob.ask("DELETE", "/v1/devices/\(id)").status == 404)
        #expect(try ann.ask("DELETE", "/v1/devices/\(id)").status == 204)
        #expect(try ann.ask("DELETE", "/v1/devices/\(id)").status == 404)
        let refused = try ann.ask("POST", "/v1/devices", ["platform": "ios", "push_token": "../3/device"])
        #expect(refused.status == 400 && refused.code == "invalid_value")
    }
}

extension PushRequest {
    fileprivate var call: CallID? { if case .call(let call) = reason { call.id } else { nil } }
}
