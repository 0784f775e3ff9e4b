import Engine
import Testing
import Wire

@testable import PatchbayClient

/// Devices against the gateway's call state machine, with every message encoded.
struct CallRaceTests {
    private struct Device {
        var id: DeviceID
        var user: Identity
        var calls = CallList()
        var appeared = 0
        var ended = 0

        mutating func read(_ bytes: [UInt8]) throws {
            for update in calls.apply(try CallMessage(parsing: bytes)) {
                switch update {
                case .appeared: appeared += 1
                case .changed: break
                case .ended: ended += 1
                }
            }
        }
    }

    private struct Exchange {
        var desk: CallStateMachine
        var devices: [Device] = []
        let now = Instant(nanoseconds: 1_000_000_000)

        init(seed: UInt64) throws {
            desk = CallStateMachine(seed: seed)
            for name in ["ann.phone", "ann.tablet", "bob.phone", "bob.car"] {
                let device = Device(id: DeviceID(text: name), user: Identity(text: String(name.prefix(3))))
                devices.append(device)
                try happens(.connected(device.id, of: device.user))
            }
        }

        mutating func ask(_ index: Int, _ request: CallRequest) throws {
            let incoming = IncomingCallRequest(parsing: OutgoingCallRequest(request, id: 1).bytes)
            try happens(.request(try incoming.content.get(), from: .device(devices[index].id, id: incoming.id)))
        }

        private mutating func happens(_ input: CallStateMachine.Input) throws {
            var effects: [CallStateMachine.Effect] = []
            desk.handle(input, at: now, into: &effects)
            for effect in effects {
                switch effect {
                case .greet(let id, let user, let calls):
                    let hello = CallsHello(server: ServerInfo(version: "1", node: "n"), user: user, device: id, calls: calls)
                    try deliver(hello.bytes, to: id)
                case .send(let event, let audience): for id in audience { try deliver(event.bytes, to: id) }
                case .reply(let reply, .device(let id, _)): try deliver(reply.bytes(re: 1), to: id)
                case .admit(_, let call, .device(let id, _)):
                    try deliver(CallReply(call, livekitURL: "u", livekitToken: "t", roomName: call.room).bytes(re: 1), to: id)
                case .reject(let refusal, .device(let id, _)): try deliver(refusal.bytes(re: 1), to: id)
                default: break
                }
            }
        }

        private mutating func deliver(_ bytes: [UInt8], to id: DeviceID) throws {
            guard let index = devices.firstIndex(where: { $0.id == id }) else { return }
            try devices[index].read(bytes)
        }

        /// The devices that show an ongoing call.
        func active(_ indices: Range<Int>) -> Int { indices.count { devices[$0].calls.calls.contains { $0.state == .active } } }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func everyDeviceShowsAndRemovesEachCallOnce(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var exchange = try Exchange(seed: seed)
        try exchange.ask(0, .start(CallStart(to: [.user(Identity(text: "bob"))])))
        let call = try #require(exchange.devices[2].calls.calls.first).id
        #expect(exchange.devices[1].calls.calls.isEmpty, "who called with the phone has nothing on the tablet")
        var requests: [(Int, CallRequest)] = [(0, .cancel(call)), (0, .hangUp(call)), (1, .hangUp(call))]
        for device in 2...3 {
            requests += [(device, .answer(call)), (device, .reject(call, CallRejection())), (device, .hangUp(call))]
        }
        while !requests.isEmpty {
            let (device, request) = requests.remove(at: random.below(requests.count))
            try exchange.ask(device, request)
            #expect(exchange.active(2..<4) <= 1)
            #expect(exchange.active(0..<2) == exchange.active(2..<4), "both sides talk or none")
        }
        #expect(exchange.devices.allSatisfy { $0.calls.calls.isEmpty })
        #expect(exchange.devices.map(\.appeared) == [1, 0, 1, 1])
        #expect(exchange.devices.map(\.ended) == [1, 0, 1, 1])
    }
}
