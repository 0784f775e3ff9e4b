import Engine
import Foundation
import Gateway
import Testing
import Wire

/// Two devices per user act concurrently: whatever the outcome, all receive the same history.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(10)))
struct CallStressTests {
    /// Set `PATCHBAY_CALL_ROUNDS` for a longer run.
    private static let rounds = ProcessInfo.processInfo.environment["PATCHBAY_CALL_ROUNDS"].flatMap { Int($0) } ?? 50

    @Test func concurrentAnswersCancelsAndHangUpsGiveAllDevicesTheSameHistory() async throws {
        let node = try CallTestGateway()
        var random = Seed(state: 20_261_121)
        var endings: [CallStatus: Int] = [:]
        // The maximum number of calls that one user may start at once.
        for batch in 0..<(Self.rounds + 7) / 8 {
            let (ann, bob) = (try await node.user("ann \(batch)"), try await node.user("bob \(batch)"))
            let anns = [try ann.device(shard: 0), try ann.device(shard: 1)]
            let bobs = [try bob.device(shard: 0), try bob.device(shard: 1)]
            for _ in 0..<min(8, Self.rounds - batch * 8) {
                let ending = try round(anns, bobs, bob.party, &random)
                endings[ending, default: 0] += 1
            }
        }
        #expect(endings.values.reduce(0, +) == Self.rounds)
        print("endings of \(Self.rounds) calls: \(endings.map { "\($0.key) \($0.value)" }.sorted())")
    }

    private func round(
        _ anns: [TestDevice], _ bobs: [TestDevice], _ party: CallParty, _ random: inout Seed
    ) throws -> CallStatus {
        let id = try anns[0].start(party).id
        for device in bobs { try device.event(.incoming, of: id) }
        // Send everything before reading any reply.
        var asked: [(TestDevice, UInt64, CallRequest)] = []
        for step in random.shuffled(0..<6) {
            let (device, request): (TestDevice, CallRequest) =
                switch step {
                case 0, 1: (bobs[step], random.chance(4) ? .reject(id, CallRejection()) : .answer(id))
                case 2, 3: (anns[step - 2], random.chance(2) ? .cancel(id) : .hold(id, held: true))
                case 4: (anns[random.below(2)], random.chance(2) ? .hangUp(id) : random.chance(2) ? .join(id) : .mute(id, muted: true))
                default: (bobs[random.below(2)], random.chance(2) ? .hangUp(id) : random.chance(2) ? .join(id) : .answer(id))
                }
            asked.append((device, try device.send(request), request))
        }
        let outcomes = try asked.map { ($0.2, try $0.0.answer(to: $0.1)) }
        let answered = outcomes.count { if case (.answer, .success) = $0 { true } else { false } }
        #expect(answered <= 1)
        // End the remaining calls from both sides.
        let last = try [anns[1], bobs[0]].map { ($0, try $0.send(.hangUp(id))) }
        for (device, number) in last { _ = try device.answer(to: number) }
        let cancelled = try anns[0].send(.cancel(id))
        _ = try anns[0].answer(to: cancelled)
        let ending = try anns[0].event(.ended, of: id)
        for device in anns + bobs { try device.event(.ended, of: id) }
        let histories = (anns + bobs).map { $0.history(of: id) }
        #expect(Set(histories).count == 1, "\(histories)")
        #expect(histories[0].enumerated().allSatisfy { $1.hasPrefix("\($0 + 1) ") })
        return ending.call.status
    }
}

/// A deterministic random generator (splitmix64).
private struct Seed {
    var state: UInt64

    mutating func below(_ limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ (bits >> 31)) % UInt64(limit))
    }

    mutating func chance(_ one: Int) -> Bool { below(one) == 0 }

    mutating func shuffled(_ range: Range<Int>) -> [Int] {
        var places = Array(range)
        for place in places.indices.reversed() { places.swapAt(place, below(place + 1)) }
        return places
    }
}
