internal import Foundation
internal import Identity
internal import Synchronization
internal import Wire

/// Hashes passwords on a queue of its own with limited concurrency: each takes a tenth of a second and 32 MiB.
final class PasswordHasher: Sendable {
    private let cost: PasswordHash.Cost
    /// Compared with the passwords of unknown users, so that they take as long as those of known ones.
    private let nobody: PasswordHash
    private let workers: OperationQueue
    private let waiting = Mutex(0)

    init(cost: PasswordHash.Cost) {
        self.cost = cost
        nobody = PasswordHash(of: SecretText(Base64.urlSafe.encode(randomBytes(16))), cost: cost)
        workers = OperationQueue()
        workers.name = "passwords"
        workers.maxConcurrentOperationCount = StoreLimits.passwordsAtOnceMax
    }

    func hash(of password: SecretText) async throws(StoreError) -> PasswordHash {
        let cost = cost
        return try await inTurn { PasswordHash(of: password, cost: cost) }
    }

    /// - Parameter hash: nil for an unknown user, whose password never matches.
    func isRight(_ password: SecretText, for hash: PasswordHash?) async throws(StoreError) -> Bool {
        let nobody = nobody
        return try await inTurn { (hash ?? nobody).matches(password) && hash != nil }
    }

    private func inTurn<T: Sendable>(_ work: @escaping @Sendable () -> T) async throws(StoreError) -> T {
        let isAccepted = waiting.withLock { waiting in
            guard waiting < StoreLimits.passwordsWaitingMax else { return false }
            waiting += 1
            return true
        }
        guard isAccepted else { throw .busy }
        defer { waiting.withLock { $0 -= 1 } }
        return await withCheckedContinuation { continuation in
            workers.addOperation { continuation.resume(returning: work()) }
        }
    }
}
