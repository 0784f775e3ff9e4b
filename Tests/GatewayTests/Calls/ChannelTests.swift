import Backend
import Engine
import Foundation
import Gateway
import Identity
import Store
import Synchronization
import Testing
import Wire

/// A user's channel as a connection: admission, refusals and close.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(1)))
struct ChannelTests {
    private func refusal(_ ask: HTTPAsk, _ gateway: TestGateway) throws -> (Int, String?) {
        let answer = try #require(try HTTPConnection(gateway).answer(to: ask))
        return (answer.status, answer.code)
    }

    @Test func channelAcceptsOnlyUserTokens() async throws {
        let node = try CallTestGateway()
        let ann = try await node.user("ann")
        let token = try ann.token()
        for (ask, status, code): (HTTPAsk, Int, String) in [
            (.upgrade("/v1/events"), 401, "missing_token"),
            (.upgrade(token: TestToken.joining("r", as: "ann"), path: "/v1/events"), 401, "unknown_issuer"),
            (.upgrade(token: try ann.token(age: 1_000), path: "/v1/events"), 401, "token_expired"),
            (.upgrade(token: String(token.dropLast(4)) + "AAAA", path: "/v1/events"), 401, "bad_signature"),
            (.upgrade("/v1/events", subprotocol: nil, with: [("Authorization", "Bearer " + token)]), 400, "subprotocol_required"),
            (.upgrade(token: token, path: "/v1/event"), 404, "not_found"),
            (.upgrade(token: token, path: "/v1/events%0Ahttp/1.1"), 400, "invalid_path"),
            (.upgrade(token: token, path: "/v1/events%0A/../x"), 400, "invalid_path"),
            (.upgrade(token: token), 401, "unknown_issuer"),
        ] {
            let (found, name) = try refusal(ask, node.gateway)
            #expect(found == status && name == code, "\(ask.path): \(found) \(name ?? "")")
        }
        for ask in [
            HTTPAsk.upgrade("/v1/events?access_token=" + token),
            .upgrade("/v1/events", subprotocol: "patchbay.v1, " + ProtocolLimits.bearerSubprotocolPrefix + token),
        ] {
            #expect(try TestDevice(node.gateway.webSocket(ask)).hello.user == ann.identity)
        }
    }

    @Test func channelDoesNotExistWithoutAccounts() throws {
        let gateway = try TestGateway()
        let (status, code) = try refusal(.upgrade(token: TestToken.joining("r", as: "ann"), path: "/v1/events"), gateway)
        #expect(status == 404 && code == "not_found")
    }

    /// Holds up the lookup of a channel's owner, after the store has read its state.
    private final class Lookup: Sendable {
        private enum Phase {
            case idle, expected, held, released
        }

        private let phase = Mutex(Phase.idle)
        /// The reads of the current task are not held.
        @TaskLocal static var passes = false

        var isHeld: Bool { phase.withLock { $0 == .held } }

        func expect() { phase.withLock { $0 = .expected } }

        func release() { phase.withLock { $0 = .released } }

        @Sendable func observe(_ operation: StoreOperation, _ duration: Duration, _ error: StoreError?) {
            let isMeant = phase.withLock { phase in
                guard phase == .expected || phase == .held, operation == .read, !Self.passes else { return false }
                phase = .held
                return true
            }
            if isMeant { try? Patience.until("its release") { !isHeld } }
        }
    }

    /// The channel is registered after the change, so that closing the user's channels at that time misses it.
    @Test func tokenThatIsRevokedWhileItsChannelOpensClosesItBeforeHello() async throws {
        let lookup = Lookup()
        let node = try CallTestGateway(observing: lookup.observe)
        let (store, now) = (node.backend.store, WallTime(milliseconds: TestToken.now * 1_000))
        let (old, new) = (SecretText("correct horse battery staple"), SecretText("another horse battery staple"))
        let ann = TestUser(node: node, id: try await store.accounts.createUser(email: "ann@example.org", password: old, at: now).id)
        lookup.expect()
        let socket = try node.gateway.webSocket(.upgrade(token: try ann.token(), path: "/v1/events"))
        try Patience.until("the lookup") { lookup.isHeld }
        let outcome = try await Lookup.$passes.withValue(true) {
            try await store.accounts.changePassword(of: ann.id, from: old, to: new, at: now)
        }
        #expect(outcome == .changed)
        lookup.release()
        guard case .close(4100, _) = try socket.next() else { throw DidNotHappen(what: "close code 4100 without hello") }
    }

    @Test func seventeenthDeviceReplacesTheOldest() async throws {
        let node = try CallTestGateway()
        let ann = try await node.user("ann")
        let devices = try (0..<17).map { _ in try ann.device() }
        #expect(try devices[0].ending() == 4105)
        for device in devices[1...] { try device.ask(.ping(1)) }
    }

    @Test(
        arguments: [
            ("{", "malformed", nil), (#"{"id":1,"type":7}"#, "malformed", 1), (#"{"id":-1,"type":"ping"}"#, "malformed", nil),
            (#"{"id":2,"type":"call.dance","data":{}}"#, "unknown_type", 2), (#"{"id":3,"type":"call.answer"}"#, "invalid_argument", 3),
            (#"{"id":4,"type":"call.start","data":{"to":[]}}"#, "invalid_argument", 4),
            (#"{"id":5,"type":"call.start","data":{"to":[""]}}"#, "invalid_argument", 5),
            (#"{"id":6,"type":"call.answer","data":{"call":"'; DROP TABLE calls"}}"#, "not_found", 6),
            (String(repeating: "[", count: 10_000), "malformed", nil),
        ] as [(String, String, UInt64?)])
    func badInputIsRefusedAndCounted(text: String, code: String, id: UInt64?) async throws {
        let node = try CallTestGateway()
        let device = try await node.user("ann").device()
        try device.socket.send(text: text)
        guard case .failure(let refusal) = try device.answer(to: id) else { throw DidNotHappen(what: "a refusal") }
        #expect(refusal.error.code.description == code)
        try device.ask(.ping(1))
        #expect(try node.gateway.get("/metrics")?.text.contains("patchbay_requests_refused_total{shard=") == true)
    }

    @Test func binaryMessageClosesTheChannel() async throws {
        let node = try CallTestGateway()
        let ann = try await node.user("ann")
        let (binary, invalid, big) = (try ann.device(), try ann.device(), try ann.device())
        for _ in 0..<100 { try? binary.socket.send(binary: [1, 2, 3]) }
        #expect(try binary.ending() == 4106)
        try invalid.socket.send(RawFrame(opcode: 1, payload: [0xC3, 0x28]))
        #expect(try invalid.ending() == 1007)
        try? big.socket.send(text: String(repeating: " ", count: 70_000))
        #expect(try big.ending() == 1009)
        try ann.device().ask(.ping(1))
    }

    /// The burst that a device may send counts from `hello`, however slow the store is.
    @Test func excessiveRequestsAreLimitedPerDevice() async throws {
        let node = try CallTestGateway(observing: { operation, _, _ in
            if operation == .read { usleep(50_000) }
        })
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (flooder, other) = (try ann.device(), try bob.device())
        let ids = try (0..<300).map { _ in try flooder.send(.answer(CallID(text: "CA_none"))) }
        try other.ask(.hangUp(other.start(ann.party).id))
        let codes = try ids.map { id -> RequestError.Code? in
            if case .failure(let refusal) = try flooder.answer(to: id) { return refusal.error.code }
            return nil
        }
        #expect(codes.contains(.limitExceeded))
        #expect(codes.prefix(100).allSatisfy { $0 == .notFound })
    }

    @Test func channelClosesWhenItsTokenExpires() async throws {
        let node = try CallTestGateway()
        // Valid for 900 s plus 60 s of leeway.
        let device = try await node.user("ann").device(age: 955)
        #expect(try device.ending() == 4100)
    }

    @Test func renewedTokenExtendsTheChannel() async throws {
        let node = try CallTestGateway()
        let ann = try await node.user("ann")
        let device = try ann.device(age: 955)
        #expect(device.hello.expiresIn == 0)
        let expiresIn = try #require(try device.ask(.renew(token: try ann.token())).expiresIn)
        #expect(890...900 ~= expiresIn)
        // Longer than the first token is valid.
        #expect(throws: DidNotHappen.self) { try device.take(until: "the end", within: .seconds(7)) { $0.closeCode != nil } }
        try device.ask(.ping(1))
    }

    @Test func onlyAValidTokenOfTheSameUserRenewsTheChannel() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let device = try ann.device()
        for token in [
            try bob.token(), try ann.token(age: 1_000), "x.y.z", "", TestToken.joining("r", as: "ann"), TestToken.assistant("helper"),
        ] {
            #expect(try device.refusal(of: .renew(token: token))?.error.code == .notAllowed, "\(token)")
        }
        let process = try node.assistant("helper")
        #expect(try process.refusal(of: .renew(token: TestToken.assistant("other")))?.error.code == .notAllowed)
        #expect(try process.ask(.renew(token: TestToken.assistant("helper"))).expiresIn != nil)
    }

    @Test func deletedUserIsDisconnected() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (anns, bobs) = (try ann.device(), try bob.device())
        let call = try anns.start(bob.party)
        try bobs.ask(.answer(call.id))
        #expect(try ann.http("DELETE", "/v1/users/me").status == 204)
        #expect(try anns.ending() == 4100)
        #expect(try bobs.event(.ended).call.status == .completed)
        let ask = HTTPAsk.upgrade(token: try ann.token(), path: "/v1/events")
        #expect(try node.gateway.webSocket(ask).ending() == .close(4100, "token bad or revoked"))
    }

    @Test func drainDisconnectsIdleDevicesAndWaitsForCalls() async throws {
        let node = try CallTestGateway()
        let (ann, bob, cat) = (try await node.user("ann"), try await node.user("bob"), try await node.user("cat"))
        let (anns, bobs, cats) = (try ann.device(), try bob.device(), try cat.device())
        let call = try anns.start(bob.party)
        let caller = try call.join(node.gateway)
        try bobs.event(.incoming)
        node.gateway.gateway.drain()
        #expect(try cats.ending() == 4001)
        try bobs.ask(.reject(call.id, CallRejection()))
        #expect(try anns.event(.ended).call.status == .rejected)
        #expect(try caller.closeCode() == 4102)
        #expect(try anns.ending() == 4001)
        #expect(try bobs.ending() == 4001)
        try await node.gateway.ended()
    }

    @Test func drainEndsWithTheLastCallThatNobodyAnswers() async throws {
        let node = try CallTestGateway(settings: CallSettings(ringTime: .seconds(1)))
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (anns, bobs) = (try ann.device(), try bob.device())
        let call = try anns.start(bob.party)
        try bobs.event(.incoming)
        node.gateway.gateway.drain()
        #expect(try anns.event(.ended, of: call.id).call.status == .timeout)
        #expect(try anns.ending() == 4001)
        #expect(try bobs.ending() == 4001)
        try await node.gateway.ended()
    }

    @Test func drainEndsWithTheLastCallThatIsCancelledOverHTTP() async throws {
        let node = try CallTestGateway()
        let (ann, bob) = (try await node.user("ann"), try await node.user("bob"))
        let (anns, bobs) = (try ann.device(), try bob.device())
        let call = try anns.start(bob.party)
        try bobs.event(.incoming)
        node.gateway.gateway.drain()
        #expect(try ann.http("POST", "/v1/calls/\(call.id)/cancel").status == 200)
        #expect(try anns.ending() == 4001)
        #expect(try bobs.ending() == 4001)
        try await node.gateway.ended()
    }

    /// Its upgrade was accepted before the drain.
    @Test func channelThatOpensInADrainIsClosed() async throws {
        let node = try CallTestGateway()
        let ann = try await node.user("ann")
        node.backend.callInbox.post(.drain)
        #expect(try ann.device().ending() == 4001)
    }
}
