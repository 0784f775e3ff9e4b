import PatchbayClient
import Testing
import Wire

/// A channel against gateways that misbehave.
@Suite(.timeLimit(.minutes(1)))
struct CallScriptTests {
    private static let ann = CallParty.user(Identity(text: "ann"))
    private static let bob = CallParty.user(Identity(text: "bob"))

    private static func hello(_ device: String, calls: [CallInfo] = []) -> [UInt8] {
        CallsHello(
            server: ServerInfo(version: "1", node: "n"), user: Identity(text: "bob"), device: DeviceID(text: device), calls: calls
        ).bytes
    }

    /// Ann calls bob.
    private static let ringing = CallInfo(
        id: CallID(text: "CA_1"), room: "call-CA_1", seq: 1, status: .ringing, caller: ann,
        members: [CallMember(party: ann, status: .answered), CallMember(party: bob, status: .ringing)])

    private func connect(to gateway: ScriptedGateway, _ change: (inout RoomOptions) -> Void = { _ in }) async throws -> Channel {
        var options = RoomOptions(trust: .authority(path: try TestCertificates.shared.get().authority))
        change(&options)
        return try await Channel.connect(url: gateway.url, userToken: "t", options: options)
    }

    @Test func unansweredRequestTimesOut() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1", calls: [Self.ringing])])
        let channel = try await connect(to: gateway) { $0.requestTimeout = .milliseconds(50) }
        let call = try await channel.ring()
        await #expect(throws: CallFailure.request(.timedOut)) { _ = try await call.answer() }
        await #expect(throws: RequestFailure.timedOut) { try await call.reject() }
        // The outcome is unknown; the call rings until an event arrives.
        #expect(channel.calls[call.id]?.state == .connecting)
    }

    @Test func pendingRequestFailsWhenTheConnectionBreaks() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1")], .breaksAtCalls)
        let channel = try await connect(to: gateway)
        await #expect(throws: CallFailure.request(.notConnected)) { _ = try await channel.call([Self.ann]) }
        _ = try await channel.first { if case .reconnected = $0 { true } else { nil } }
    }

    @Test func missingHelloTimesOut() async throws {
        let gateway = try ScriptedGateway(greeting: [Array("{}".utf8)])
        let error = await #expect(throws: ConnectError.self) {
            _ = try await connect(to: gateway) { $0.connectTimeout = .milliseconds(500) }
        }
        #expect(error?.kind == .timeout)
    }

    @Test func unreadableMessagesAreCountedAndSkipped() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1")])
        let channel = try await connect(to: gateway)
        gateway.say("nonsense")
        gateway.say(#"{"type":"call.of_the_wild","data":{}}"#)
        gateway.say(#"{"type":"reply","re":77,"data":{}}"#)
        gateway.say(CallEvent(.incoming, Self.ringing, by: Self.ann))
        #expect(try await channel.ring().info == Self.ringing)
        #expect(channel.statistics.messagesUnread == 3)
    }

    @Test func callEndedDuringAReconnectIsRemoved() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1", calls: [Self.ringing]), Self.hello("DV_2")])
        let channel = try await connect(to: gateway)
        let call = try await channel.ring()
        channel.dropConnection()
        _ = try await channel.first { if case .reconnected = $0 { true } else { nil } }
        #expect(channel.calls.calls.isEmpty)
        #expect(try await channel.ending() == .whileAway)
        #expect(channel.calls[call.id] == nil)
    }

    @Test func retryableCloseCodeReconnects() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1"), Self.hello("DV_2")])
        let channel = try await connect(to: gateway)
        gateway.close(.slowConsumer)
        let reason = try await channel.first { if case .reconnecting(_, _, let reason) = $0 { reason } else { nil } }
        #expect(reason == .closed(.slowConsumer))
        _ = try await channel.first { if case .reconnected = $0 { true } else { nil } }
        #expect(channel.device.text == "DV_2")
    }

    @Test func finalCloseCodeEndsTheChannel() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1")])
        let channel = try await connect(to: gateway)
        gateway.close(.limit)
        let reason = try await channel.first { if case .disconnected(let reason) = $0 { reason } else { nil } }
        #expect(reason == .closed(.limit))
        await #expect(throws: CallFailure.request(.ended)) { _ = try await channel.call([Self.ann]) }
    }

    @Test func silentGatewayCausesAReconnect() async throws {
        let gateway = try ScriptedGateway(greeting: [Self.hello("DV_1"), Self.hello("DV_2")], .isSilent)
        let channel = try await connect(to: gateway)
        let reason = try await channel.first { if case .reconnecting(_, _, let reason) = $0 { reason } else { nil } }
        #expect(reason == .pingTimeout)
        _ = try await channel.first { if case .reconnected = $0 { true } else { nil } }
    }
}
