import Foundation
import Synchronization

/// How long tests wait for what must happen.
enum Patience {
    /// Far longer than anything takes, even on a busy machine.
    static let usual = Duration.seconds(15)

    /// Polls until `condition` holds.
    ///
    /// - Throws: `DidNotHappen`, with `what`.
    static func until(_ what: String, within span: Duration = usual, _ condition: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + span
        var pause = 0.005
        while try !condition() {
            guard ContinuousClock.now < deadline else { throw DidNotHappen(what: what) }
            Thread.sleep(forTimeInterval: pause)
            pause = min(pause * 1.5, 0.1)
        }
    }
}

struct DidNotHappen: Error, CustomStringConvertible {
    let what: String
    var description: String { "waited in vain: \(what)" }
}

/// Loopback addresses, each used once, so that one client's authentication failures do not count against another.
enum Loopback {
    private static let given = Atomic(0)

    static func fresh() -> String {
        let number = given.add(1, ordering: .relaxed).newValue
        return "127.\(1 + number / 60_000 % 250).\(number / 240 % 250).\(10 + number % 240)"
    }
}

extension Result where Failure == any Error {
    /// The result of an async body, for callers that clean up in either case.
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
