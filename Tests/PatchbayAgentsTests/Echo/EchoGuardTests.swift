import Testing
import Wire

@testable import PatchbayAgents

struct EchoGuardTests {
    /// Levels of speech: syllables of 100 to 300 ms, drawn from a seed.
    private static func speech(seed: UInt64, milliseconds: Int, peak: Double) -> [Double] {
        var random = SplitMix64(seed: seed)
        var levels: [Double] = []
        while levels.count * 20 < milliseconds {
            let loud = peak - Double(random.next() % 8)
            levels += [Double](repeating: loud, count: 4 + Int(random.next() % 9))
            levels += [Double](repeating: peak - 25 - Double(random.next() % 10), count: 2 + Int(random.next() % 5))
        }
        return levels
    }

    /// Plays the assistant's levels and returns for each microphone window whether it was taken for echo.
    private static func listen(
        to reference: [Double], delay: Int, gain: Double, user: (Int) -> Double
    ) -> [(milliseconds: Int, level: Double, isEcho: Bool)] {
        let played = EchoReference()
        let start: UInt64 = 10_000
        for (index, level) in reference.enumerated() {
            let begin = start + UInt64(index) * 20
            played.append(level, from: instant(begin), to: instant(begin + 20))
        }
        var echoGuard = EchoGuard()
        return stride(from: 0, to: reference.count * 20, by: 32).map { time in
            let source = (time - delay) / 20
            let echo = time >= delay && reference.indices.contains(source) ? reference[source] + gain : -90
            let level = max(echo, user(time), -75)
            let now = instant(start + UInt64(time))
            return (time, level, echoGuard.isEcho(level: level, at: now, reference: played.current(at: now)))
        }
    }

    private static func instant(_ milliseconds: UInt64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    @Test(arguments: [(80, -15.0), (240, -8.0), (420, -25.0)], 1...4)
    func echoIsRecognizedWithinThreeSeconds(_ path: (delay: Int, gain: Double), seed: UInt64) {
        let reference = Self.speech(seed: seed, milliseconds: 9_000, peak: -18)
        let windows = Self.listen(to: reference, delay: path.delay, gain: path.gain) { _ in -90 }
        let mistaken = windows.filter { $0.milliseconds > path.delay + 3_000 && $0.level > -50 && !$0.isEcho }
        #expect(mistaken.isEmpty, "\(mistaken.count) windows were taken for the user, from \(mistaken.first?.milliseconds ?? 0) ms on")
    }

    @Test(arguments: 1...4)
    func theUserIsHeardOverTheEcho(seed: UInt64) {
        let reference = Self.speech(seed: seed, milliseconds: 8_000, peak: -18)
        let user = Self.speech(seed: seed + 100, milliseconds: 8_000, peak: -16)
        let windows = Self.listen(to: reference, delay: 240, gain: -20) { $0 >= 4_000 && $0 / 20 < user.count ? user[$0 / 20] : -90 }
        let spoken = windows.filter { $0.milliseconds >= 4_000 && $0.level > -24 }
        let heard = spoken.filter { !$0.isEcho }
        #expect(Double(heard.count) > 0.9 * Double(spoken.count), "\(heard.count) of \(spoken.count) windows")
    }

    @Test func theUserIsHeardAtOnceWhenNothingReturns() {
        let reference = Self.speech(seed: 7, milliseconds: 4_000, peak: -18)
        let windows = Self.listen(to: reference, delay: 0, gain: -90) { $0 >= 1_000 && $0 < 2_000 ? -24 : -75 }
        #expect(windows.filter { $0.milliseconds >= 1_032 && $0.milliseconds < 1_990 }.allSatisfy { !$0.isEcho })
    }

    @Test func aQuietUserIsHeardOnceNothingHasReturned() {
        let reference = Self.speech(seed: 9, milliseconds: 5_000, peak: -12)
        let windows = Self.listen(to: reference, delay: 0, gain: -90) { $0 >= 1_500 ? -34 : -75 }
        #expect(windows.filter { $0.milliseconds >= 1_532 }.allSatisfy { !$0.isEcho })
    }

    @Test("Users who talk at the same time as the assistant are not taken for its echo", arguments: 1...12)
    func doubleTalk(seed: UInt64) {
        let reference = Self.speech(seed: seed, milliseconds: 12_000, peak: -18)
        let user = Self.speech(seed: seed + 500, milliseconds: 13_000, peak: -24)
        let windows = Self.listen(to: reference, delay: 0, gain: -90) { $0 >= 1_000 ? user[$0 / 20] : -75 }
        let spoken = windows.filter { $0.level > -33 }
        let heard = spoken.filter { !$0.isEcho }
        #expect(Double(heard.count) > 0.9 * Double(spoken.count), "\(heard.count) of \(spoken.count) windows")
    }

    @Test func withoutPlayoutNothingIsEcho() {
        var echoGuard = EchoGuard()
        let nothing = EchoReference().current(at: Self.instant(20_000))
        for time in stride(from: UInt64(20_000), to: 22_000, by: 32) {
            let isEcho = echoGuard.isEcho(level: -30, at: Self.instant(time), reference: nothing)
            #expect(!isEcho)
        }
    }
}

private struct SplitMix64 {
    var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
