/// Errors of the store.
package enum StoreError: Error, Hashable, Sendable {
    /// The record does not exist or belongs to another user; the two cannot be distinguished.
    case notFound
    case emailTaken
    case handleTaken
    case invalidCursor
    /// An idempotency key that identifies another request.
    case keyReused
    /// The user has `StoreLimits.openSessionsPerUserMax` sessions that have not ended.
    case tooManySessions
    /// The guest has `StoreLimits.invitationsPerInviterMax` pending invitations of this user.
    case tooManyInvitations
    /// A value is out of range or too long; the text says which.
    case refused(String)
    /// The disk is full. Nothing was written; reads continue, and writes work again once there is space.
    case full
    /// The write queue is full (`StoreLimits.writesWaitingMax`), or another process holds the lock for too long.
    case busy
    /// The database server cannot be reached, or the connection was lost during the commit, so that the change may have been written.
    case unreachable
    case cancelled
    /// Another node has become the room's home and has written in an epoch with this number. Nothing was written.
    case superseded(byNumber: UInt64)

    /// Another process owns the store; `owner` is nil if it is unknown which one.
    case alreadyOpen(store: String, owner: String?)
    /// None of the given master keys is the one that locks the store.
    case wrongMasterKey(neededID: String)
    /// The directory contains no store.
    case missing(directory: String)
    /// The store was written by a newer version of this program.
    case fromTheFuture
    /// The value at `location` does not decrypt or decode, or the engine cannot read its files.
    case damaged(location: String)
    /// The engine's message, which never contains values.
    case failed(String)
}

/// An error of an engine.
protocol EngineError: Error {
    var storeError: StoreError { get }
}

extension StoreError {
    init(_ error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case is CancellationError: self = .cancelled
        case let error as any EngineError: self = error.storeError
        default: self = .failed("\(type(of: error))")
        }
    }

    /// For an error while opening a store: says which one is damaged.
    func naming(_ path: String) -> StoreError {
        if case .damaged(let location) = self { .damaged(location: "\(location) in \(path)") } else { self }
    }

    /// The name of an error that concerns operators; nil for those that only concern the caller.
    package var operationalName: String? {
        switch self {
        case .full: "full"
        case .busy: "busy"
        case .unreachable: "unreachable"
        case .damaged: "damaged"
        case .failed: "failed"
        default: nil
        }
    }

    package static let operationalNames = ["full", "busy", "unreachable", "damaged", "failed"]
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notFound: "There is no such record."
        case .emailTaken: "This e-mail address already has an account."
        case .handleTaken: "Another user has this handle."
        case .invalidCursor: "The cursor is not valid for this list."
        case .keyReused: "This idempotency key was used for another request; use a new key."
        case .tooManySessions: "This user has 1,000 running sessions; end some first."
        case .tooManyInvitations: "The guest has not answered 10 invitations of this user; wait for an answer."
        case .refused(let reason): reason
        case .full: "The store's disk is full; free some space."
        case .busy: "The store is overloaded; try again later."
        case .unreachable: "The store's database server cannot be reached; try again later."
        case .cancelled: "The request was cancelled."
        case .superseded: "Another gateway has taken over the room; try again."
        case .alreadyOpen(let store, let owner): "The store in \(store) is in use by \(owner ?? "another process")."
        case .wrongMasterKey(let id): "The store is locked with the master key \(id); add it to the configuration."
        case .missing(let directory): "There is no store in \(directory)."
        case .fromTheFuture: "The store was written by a newer version of this program; update the program."
        case .damaged(let location):
            "The store is damaged: \(location) cannot be read; `patchbay store verify` lists what is damaged, then restore a backup."
        case .failed(let reason): "The store failed: \(reason)."
        }
    }
}

extension StoreError {
    private static let retryInterval = Duration.seconds(1)

    /// Whether the same request may succeed later.
    package var isTemporary: Bool { self == .full || self == .busy || self == .unreachable }

    /// Runs `body`, and repeats it while the store is `full`, `busy` or `unreachable`.
    ///
    /// - Parameter willRetry: called before each pause.
    /// - Throws: `cancelled` once the task is cancelled; any other error of `body`.
    package static func retryingWhileUnavailable(willRetry: (StoreError) -> Void = { _ in }, body: () async throws -> Void) async throws {
        while !Task.isCancelled {
            do {
                return try await body()
            } catch let error as StoreError where error.isTemporary {
                willRetry(error)
                try? await Task.sleep(for: retryInterval)
            }
        }
        throw StoreError.cancelled
    }
}
