import Foundation
import HTTPServer
import Testing

@testable import Backend

/// Guesses that are made at once: each counts before its outcome is known.
@Suite(.onOwnThread, .timeLimit(.minutes(2)))
struct GuessLimitTests {
    private let limiter = GuessLimit()

    /// Begins attempts that all wait for each other, and ends them.
    ///
    /// - Returns: how many were begun. The others were refused with 429.
    private func attemptAtOnce(_ count: Int, areRight: Bool) async throws -> Int {
        let (begun, refused) = (RecordedNames(), RecordedNames())
        let (isDecided, decide) = AsyncStream.makeStream(of: Void.self)
        let decided = Task { for await _ in isDecided {} }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { decide.finish() }
            for _ in 0..<count {
                group.addTask { [limiter] in
                    do {
                        _ = try await limiter.attempt(by: ["ann"]) { () -> Bool? in
                            begun.note("")
                            await decided.value
                            return areRight ? true : nil
                        }
                    } catch let error as HTTPError {
                        #expect(error.code == .tooManyAttempts && error.retryAfterSeconds == 1)
                        refused.note("")
                    }
                }
            }
            while begun.names.count + refused.names.count < count { try await Task.sleep(for: .milliseconds(5)) }
            decide.finish()
            try await group.waitForAll()
            return begun.names.count
        }
    }

    @Test func guessesMadeAtOnceAreLimitedLikeOthers() async throws {
        #expect(try await attemptAtOnce(200, areRight: false) == 20)
        let error = await #expect(throws: HTTPError.self) { try await limiter.attempt(by: ["ann"]) { true } }
        #expect(error?.retryAfterSeconds == 60)
        #expect(try await limiter.attempt(by: ["bob"]) { true } == true, "others are not limited")
        await #expect(throws: HTTPError.self) { try await limiter.attempt(by: ["bob", "ann"]) { true } }
    }

    @Test func rightOnesDoNotCount() async throws {
        for _ in 1...3 { #expect(try await attemptAtOnce(20, areRight: true) == 20) }
        #expect(try await attemptAtOnce(20, areRight: false) == 20)
    }

    @Test func errorsAreNoGuesses() async throws {
        struct Unavailable: Error {}
        for _ in 0..<100 {
            await #expect(throws: Unavailable.self) { try await limiter.attempt(by: ["ann"]) { () -> Bool? in throw Unavailable() } }
        }
        #expect(limiter.reserve(20, for: ["ann"]) != nil)
    }

    @Test func severalAttemptsAreReservedAsFarAsTheLimitGoes() throws {
        let first = try #require(limiter.reserve(15, for: ["ann"]))
        let second = try #require(limiter.reserve(15, for: ["ann"]))
        #expect(limiter.reserve(1, for: ["ann"]) == nil)
        limiter.settle(first, failures: 0)
        limiter.settle(second, failures: 12)
        let rest = try #require(limiter.reserve(20, for: ["ann"]))
        #expect(limiter.reserve(1, for: ["ann"]) == nil, "12 have failed, and 8 are reserved")
        limiter.settle(rest, failures: 0)
        #expect(limiter.reserve(1, for: ["ann"]) != nil)
    }
}
