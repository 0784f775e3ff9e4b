import Testing
import Wire

@testable import PatchbayAgents

/// Random conversations, each reproducible from its seed.
struct TurnSimulationTests {
    private struct Random {
        var state: UInt64

        mutating func next(_ range: ClosedRange<Int>) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return range.lowerBound + Int(state >> 33) % (range.upperBound - range.lowerBound + 1)
        }
    }

    private static let phrases = [
        "What time is it?", "I would like to book a table for two.", "mm-hm", "Okay.", "", "Stop.", "Tell me about the harbour, please.",
        "no wait", "and then we went to the", "Thank you very much.",
    ]

    /// A user who speaks, coughs, types, dials and holds at random, with engines of random speed.
    private static func world(_ seed: Int) -> (world: TurnWorld, spoken: [String], end: Duration) {
        var random = Random(state: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1)
        var world = TurnWorld()
        world.recognitionTakes = .milliseconds(random.next(20...900))
        world.responseTakes = .milliseconds(random.next(10...2_500))
        world.speechLasts = .milliseconds(random.next(300...9_000))
        world.responseFails = random.next(0...9) == 0
        world.background = random.next(0...3) == 0 ? -40 : -70
        var time = Duration.seconds(2)
        var spoken: [String] = []
        for _ in 0..<random.next(3...12) {
            switch random.next(0...11) {
            case 0: world.schedule(.text(TurnWorld.user, "typed text"), at: time)
            case 1: world.schedule(.digits(TurnWorld.user, "5"), at: time)
            case 2:
                world.schedule(.held(true), at: time)
                time += .milliseconds(random.next(100...4_000))
                world.schedule(.held(false), at: time)
            default:
                let phrase = phrases[random.next(0...phrases.count - 1)]
                let length = Duration.milliseconds(random.next(60...3_000))
                world.says(phrase, at: time, for: length)
                if !phrase.isEmpty { spoken.append(phrase) }
                time += length
            }
            time += .milliseconds(random.next(50...5_000))
        }
        return (world, spoken, time + .seconds(45))
    }

    @Test("Random conversations come to rest, and the assistant never talks over its user", arguments: 1...200)
    func conversation(_ seed: Int) {
        var (world, _, end) = Self.world(seed)
        world.run(until: end)
        #expect([.listening, .idle, .error].contains(world.machine.state), "ends \(world.machine.state)")
        #expect(world.machine.currentTurn == nil && !world.machine.isUserSpeaking)
        // Turns are begun in order, and never two at once.
        let begun = world.effects.compactMap { effect -> TurnID? in
            switch effect.effect {
            case .respond(let turn, _, _), .say(let turn, _): turn
            default: nil
            }
        }
        #expect(begun == begun.sorted() && Set(begun).count == begun.count)
        // Every interruption is followed by a continuation or an end.
        #expect(world.count(\.isInterrupt) <= world.count(\.isResume) + world.count(\.isAbandon))
        #expect(world.overlap <= .milliseconds(300), "talked over the user for \(world.overlap)")
    }

    @Test("The same seed gives the same effects", arguments: [3, 17, 101])
    func repeatable(_ seed: Int) {
        var (first, _, end) = Self.world(seed)
        var (second, _, _) = Self.world(seed)
        first.run(until: end)
        second.run(until: end)
        #expect(first.effects.map(\.effect) == second.effects.map(\.effect))
    }
}
